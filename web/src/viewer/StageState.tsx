import type { ReactNode } from "react";
import type { ViewerState } from "./state";

interface StageStateProps {
  state: ViewerState;
  /** What the connection is for. */
  what: string;
  retry: () => void;
  /** Offered when access was refused. */
  whenRefused?: ReactNode;
  /** Offered when the session is over. */
  whenOver?: ReactNode;
  /** Shown while connected. */
  children?: ReactNode;
}

/** Status messages over the picture, also announced to screen readers. */
export function StageState({ state, what, retry, whenRefused, whenOver, children }: StageStateProps) {
  return (
    <div className="stage-state" role="status">
      {state.kind === "connecting" && (
        <p className="card">
          <span className="spinner" /> Connecting to the {what}…
        </p>
      )}
      {state.kind === "connected" && children}
      {state.kind === "reconnecting" && (
        <div className="card">
          <p>
            <span className="spinner" /> {state.text} Reconnecting…
          </p>
          <button type="button" onClick={retry}>
            Reconnect now
          </button>
        </div>
      )}
      {(state.kind === "over" || state.kind === "refused") && (
        <div className="card">
          <p>{state.text}</p>
          {state.kind === "refused" ? whenRefused : whenOver}
        </div>
      )}
    </div>
  );
}
