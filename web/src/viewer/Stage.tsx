import { useRef, type ReactNode } from "react";
import type { Scaling } from "./connection";
import { cropTo, type Part } from "./crop";
import { useSizeOf } from "./size";
import { StageState } from "./StageState";
import type { Viewer } from "./useViewer";

interface StageProps {
  viewer: Viewer;
  driving: boolean;
  scaling: Scaling;
  /** The part of the screen to show, fitted; null for all of it. */
  part?: Part | null;
  /** Lies on what is shown of the picture, and nowhere else. */
  marks?: ReactNode;
  /** Offered when access was refused. */
  whenRefused?: ReactNode;
  /** Offered when the session is over. */
  whenOver?: ReactNode;
  children?: ReactNode;
}

/** The desktop's picture with everything that may lie over it. */
export function Stage(props: StageProps) {
  const { viewer, driving, scaling, part = null, marks, whenRefused, whenOver, children } = props;
  const stage = useRef<HTMLDivElement>(null);
  const room = useSizeOf(stage, part !== null);
  const crop = part && viewer.size && room && cropTo(part, viewer.size, room);
  return (
    <div
      ref={stage}
      className="stage"
      data-cropped={crop !== null}
      data-driving={driving}
      data-focused={viewer.focused}
      data-scaling={scaling}
      data-connected={viewer.state.kind === "connected"}
    >
      {/* The picture itself is moved and scaled, so a click on it is where it looks to be. */}
      <div className="crop" style={crop?.box}>
        <canvas ref={viewer.still} className="still" style={crop?.picture} width={0} height={0} aria-hidden="true" />
        <div
          ref={viewer.screen}
          className="screen"
          style={crop?.picture}
          role="application"
          aria-label="Desktop of the session"
        />
        {marks}
      </div>
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
