import type { ReactNode } from "react";
import type { Scaling } from "./connection";
import { StageState } from "./StageState";
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

/** The desktop's picture with everything that may lie over it. */
export function Stage({ viewer, driving, scaling, whenRefused, whenOver, children }: StageProps) {
  return (
    <div
      className="stage"
      data-driving={driving}
      data-focused={viewer.focused}
      data-scaling={scaling}
      data-connected={viewer.state.kind === "connected"}
    >
      <canvas ref={viewer.still} className="still" width={0} height={0} aria-hidden="true" />
      <div ref={viewer.screen} className="screen" role="application" aria-label="Desktop of the session" />
      {children}
      <StageState
        state={viewer.state}
        what="desktop"
        retry={viewer.retry}
        whenRefused={whenRefused}
        whenOver={whenOver}
      />
    </div>
  );
}
