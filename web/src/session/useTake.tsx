import { useState, type ReactNode } from "react";
import { ApiError, client, explain } from "../api/client";
import type { Control } from "../api/wire";
import { Confirm } from "../ui/Confirm";

interface TakeOptions {
  sessionId: string;
  /** Called with the server's error. */
  onError: (text: string) => void;
  onControl: (control: Control) => void;
}

export interface Take {
  take: () => void;
  busy: boolean;
  /** A dialog that asks whether to take control from another person, while it is open. */
  question: ReactNode;
}

/** Takes control; from another person only after confirmation. */
export function useTake({ sessionId, onError, onControl }: TakeOptions): Take {
  const [holder, setHolder] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const take = async () => {
    setBusy(true);
    try {
      onControl(await client.take(sessionId));
    } catch (error) {
      if (error instanceof ApiError && error.code === "control_held") {
        setHolder(typeof error.body.holder === "string" ? error.body.holder : "Another person");
      } else {
        onError(explain(error));
      }
    }
    setBusy(false);
  };

  const question = holder !== null && (
    <Confirm
      title={`${holder} is driving by hand`}
      action="Take over anyway"
      danger
      onConfirm={async () => onControl(await client.take(sessionId, true))}
      onClose={() => setHolder(null)}
    >
      <p>If you take over, {holder} can no longer use mouse and keyboard, and is told so.</p>
    </Confirm>
  );
  return { take: () => void take(), busy, question };
}
