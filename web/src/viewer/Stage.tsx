import type { ReactNode } from "react";
import type { Scaling } from "./connection";
import type { Viewer } from "./useViewer";

interface StageProps {
  viewer: Viewer;
  driving: boolean;
  scaling: Scaling;
  /** Offered when access was refused. */
  whenRefused?: ReactNode;
  /** Offered when the session is over. */
  whenOver?: ReactNode;
  children?: ReactNode;
}

/** The picture with everything that may lie over it. */
export function Stage({ viewer, driving, scaling, whenRefused, whenOver, children }: StageProps) {
  const { state } = viewer;
  const connected = state.kind === "connected";
  return (
    <div
      className="stage"
      data-driving={driving}
      data-focused={viewer.focused}
      data-scaling={scaling}
      data-connected={connected}
    >
      <canvas ref={viewer.still} className="still" width={0} height={0} aria-hidden="true" />
      <div ref={viewer.screen} className="screen" role="application" aria-label="Desktop of the session" />
      {children}
      <div className="stage-state" role="status">
        {state.kind === "connecting" && (
          <p className="card">
            <span className="spinner" /> Connecting to the desktop…
          </p>
        )}
        {state.kind === "reconnecting" && (
          <div className="card">
            <p>
              <span className="spinner" /> {state.text} Reconnecting…
            </p>
            <button type="button" onClick={viewer.retry}>
              Retry now
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
    </div>
  );
}
