import { useState } from "react";
import { ApiError, client, explain } from "../api/client";
import type { Control } from "../api/wire";
import { Confirm } from "../ui/Confirm";
import { Icon } from "../ui/Icon";

interface ControlButtonsProps {
  sessionId: string;
  driving: boolean;
  disabled: boolean;
  /** Called with what the server answered could not be done. */
  onError: (text: string) => void;
  onControl: (control: Control) => void;
}

/** Take control, and hand back with a word to the agent. */
export function ControlButtons({ sessionId, driving, disabled, onError, onControl }: ControlButtonsProps) {
  const [asking, setAsking] = useState<"force" | "release" | null>(null);
  const [holder, setHolder] = useState("Another person");
  const [busy, setBusy] = useState(false);

  const take = async (force: boolean) => {
    setBusy(true);
    try {
      onControl(await client.take(sessionId, force));
    } catch (error) {
      if (error instanceof ApiError && error.code === "control_held") {
        if (typeof error.body.holder === "string") setHolder(error.body.holder);
        setAsking("force");
      } else {
        onError(explain(error));
      }
    } finally {
      setBusy(false);
    }
  };

  return (
    <>
      {driving ? (
        <button type="button" className="primary" title="Let the agent go on" onClick={() => setAsking("release")}>
          <Icon name="hand" /> Hand back
        </button>
      ) : (
        <button
          type="button"
          className="primary"
          title="Drive yourself; the agent has to wait"
          disabled={disabled || busy}
          onClick={() => void take(false)}
        >
          <Icon name="hand" /> Take control
        </button>
      )}
      {asking === "force" && (
        <Confirm
          title={`${holder} is driving by hand`}
          action="Take over anyway"
          danger
          onConfirm={() => take(true)}
          onClose={() => setAsking(null)}
        >
          <p>If you take over, {holder} can no longer use mouse and keyboard, and is told so.</p>
        </Confirm>
      )}
      {asking === "release" && (
        <HandBack sessionId={sessionId} onControl={onControl} onClose={() => setAsking(null)} />
      )}
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
