import { useRef, useState, type CSSProperties, type ReactNode } from "react";
import type { Scaling } from "./connection";
import { cropTo, type Part, type Size } from "./crop";
import { StageState } from "./StageState";
import { useZoom } from "./useZoom";
import type { Viewer } from "./useViewer";
import { WatchingHint } from "./WatchingHint";
import { ZoomBar } from "./ZoomBar";

interface StageProps {
  viewer: Viewer;
  driving: boolean;
  scaling: Scaling;
  /** The part of the screen to show, fitted; null for the whole screen. */
  part?: Part | null;
  /** The person in control, if it is someone else. */
  holder: string | null;
  /** Takes control; null if not allowed. */
  onTake: (() => void) | null;
  /** Shown over the visible part of the picture. */
  marks?: ReactNode;
  /** Offered when access was refused. */
  whenRefused?: ReactNode;
  /** Offered when the session is over. */
  whenOver?: ReactNode;
  children?: ReactNode;
}

/** Limits the stage to the size of the picture. */
export function shapeOf(size: Size | null): CSSProperties | undefined {
  return size === null ? undefined : ({ "--shape": `${size.width} / ${size.height}` } as CSSProperties);
}

/** The desktop's picture, and what is shown over it. */
export function Stage(props: StageProps) {
  const { viewer, driving, scaling, part = null, holder, onTake, marks, whenRefused, whenOver, children } = props;
  const stage = useRef<HTMLDivElement>(null);
  const [moving, setMoving] = useState(false);
  const connected = viewer.state.kind === "connected";
  // Only a fitted picture can be zoomed; the others have a fixed size.
  const whole = viewer.size && { x: 0, y: 0, ...viewer.size };
  const fitted = scaling === "fit";
  const zoom = useZoom({ stage, base: fitted ? (part ?? whole) : null, fingers: fitted && (!driving || moving) });
  const shown = zoom.active ? zoom.part : part;
  const crop = shown && viewer.size && zoom.room && cropTo(shown, viewer.size, zoom.room);
  return (
    <div
      ref={stage}
      className="stage"
      style={shapeOf(part ?? viewer.size)}
      data-cropped={crop !== null}
      data-driving={driving}
      data-focused={viewer.focused}
      data-scaling={scaling}
      data-connected={connected}
    >
      {/* The picture itself is moved and scaled, so clicks hit what is visible. */}
      <div className="crop" style={crop?.box}>
        <canvas ref={viewer.still} className="still" style={crop?.picture} width={0} height={0} aria-hidden="true" />
        <div
          ref={viewer.screen}
          className="screen"
          style={crop?.picture}
          role="application"
          aria-label="Desktop of the session"
          // While driving, the picture itself is in the tab order.
          tabIndex={connected && !driving ? 0 : -1}
        />
        {marks}
      </div>
      {children}
      {connected && fitted && <ZoomBar zoom={zoom} moving={driving ? moving : null} onMoving={setMoving} />}
      <WatchingHint stage={stage} watching={connected && !driving} holder={holder} onTake={onTake} />
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
