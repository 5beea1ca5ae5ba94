import { useState } from "react";
import { client } from "../api/client";
import type { Control } from "../api/wire";
import { Confirm } from "../ui/Confirm";
import { Icon } from "../ui/Icon";
import type { Take } from "./useTake";

interface ControlButtonsProps {
  sessionId: string;
  driving: boolean;
  disabled: boolean;
  taking: Take;
  onControl: (control: Control) => void;
}

/** Buttons to take control, and to release it with a message for the agent. */
export function ControlButtons({ sessionId, driving, disabled, taking, onControl }: ControlButtonsProps) {
  const [releasing, setReleasing] = useState(false);
  return (
    <>
      {driving ? (
        <button type="button" className="primary" title="Let the agent continue" onClick={() => setReleasing(true)}>
          <Icon name="hand" /> Hand back
        </button>
      ) : (
        <button
          type="button"
          className="primary"
          title="Drive yourself; the agent has to wait"
          disabled={disabled || taking.busy}
          onClick={taking.take}
        >
          <Icon name="hand" /> Take control
        </button>
      )}
      {taking.question}
      {releasing && <HandBack sessionId={sessionId} onControl={onControl} onClose={() => setReleasing(false)} />}
    </>
  );
}

interface HandBackProps {
  sessionId: string;
  onControl: (control: Control) => void;
  onClose: () => void;
}

function HandBack({ sessionId, onControl, onClose }: HandBackProps) {
  const [message, setMessage] = useState("");
  return (
    <Confirm
      title="Hand back to the agent"
      action="Hand back"
      onConfirm={async () => onControl(await client.release(sessionId, message.trim()))}
      onClose={onClose}
    >
      <label>
        <span>
          Message to the agent <span className="muted">optional</span>
        </span>
        <input
          data-autofocus
          value={message}
          maxLength={500}
          autoComplete="off"
          placeholder="For example: logged in, go on"
          onChange={(event) => setMessage(event.target.value)}
        />
      </label>
    </Confirm>
  );
}
