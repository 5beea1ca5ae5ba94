import { useCallback, useRef, useState, type ReactNode } from "react";
import type { BrowserView } from "../api/wire";
import type { Spot } from "../session/trace";
import { cropTo } from "../viewer/crop";
import { SpotLayer } from "../viewer/SpotLayer";
import { shapeOf } from "../viewer/Stage";
import { StageState } from "../viewer/StageState";
import { useZoom } from "../viewer/useZoom";
import { WatchingHint } from "../viewer/WatchingHint";
import { ZoomBar } from "../viewer/ZoomBar";
import { PageQuestion } from "./PageQuestion";
import { fitted } from "./place";
import { SceneCard } from "./SceneCard";
import { sceneOf } from "./state";
import type { Cast } from "./useCast";

interface CastStageProps {
  cast: Cast;
  driving: boolean;
  /** A place to point at. */
  spot?: Spot | null;
  /** The server's view of an attached browser. */
  attached?: BrowserView | null;
  /** The person in control, if it is someone else. */
  holder: string | null;
  /** Takes control; null if not allowed. */
  onTake: (() => void) | null;
  /** Offered when access was refused. */
  whenRefused?: ReactNode;
  /** Offered when the session is over. */
  whenOver?: ReactNode;
  children?: ReactNode;
}

/** The browser's picture, and what is shown over it. */
export function CastStage(props: CastStageProps) {
  const { cast, driving, spot = null, attached = null, holder, onTake, whenRefused, whenOver, children } = props;
  const stage = useRef<HTMLDivElement>(null);
  const [moving, setMoving] = useState(false);
  const scene = sceneOf(cast, attached);
  const live = cast.connection.kind === "connected" && scene.kind === "picture";
  const host = hostOf(cast.tabs.find(({ id }) => id === cast.frame?.tab)?.url);
  const { frame } = cast;
  const size = frame && frame.width > 0 && frame.height > 0 ? { width: frame.width, height: frame.height } : null;
  const zoom = useZoom({ stage, base: size && { x: 0, y: 0, ...size }, fingers: !driving || moving });
  const crop = zoom.active && zoom.part && size && zoom.room && cropTo(zoom.part, size, zoom.room);
  const shown = useCallback(() => {
    const canvas = stage.current?.querySelector<HTMLCanvasElement>(".screen > canvas");
    if (!canvas || !frame) return null;
    const box = fitted(canvas.getBoundingClientRect(), canvas);
    return { box: { ...box, top: box.top + (frame.offsetTop * box.width) / frame.width }, width: frame.width };
  }, [frame]);
  return (
    <div
      ref={stage}
      className="stage cast"
      style={shapeOf(size)}
      data-driving={driving}
      data-focused={cast.focused}
      data-connected={live}
    >
      <div className="crop" style={crop ? crop.box : undefined}>
        <div
          className="screen"
          style={crop ? crop.picture : undefined}
          role="application"
          aria-label="Page in the session's browser"
          tabIndex={live && !driving ? 0 : -1}
        >
          <canvas ref={cast.canvas} width={0} height={0} />
          <textarea
            ref={cast.field}
            className="off-screen"
            aria-label="Keyboard of the session's browser"
            tabIndex={driving ? 0 : -1}
            // Touching the picture must not open the on-screen keyboard every time.
            inputMode="none"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
          />
        </div>
        <SpotLayer spot={spot} shown={shown} />
      </div>
      {children}
      {live && <ZoomBar zoom={zoom} moving={driving ? moving : null} onMoving={setMoving} />}
      <WatchingHint stage={stage} watching={live && !driving} holder={holder} onTake={onTake} />
      <StageState
        state={cast.connection}
        what="browser"
        retry={cast.retry}
        whenRefused={whenRefused}
        whenOver={whenOver}
      >
        <SceneCard scene={scene} />
        {cast.dialog && !driving && scene.kind === "picture" && (
          <div className="card">
            <h2>{host ? `${host} asks` : "The page asks"}</h2>
            <p className="page-words">{cast.dialog.message}</p>
            <p className="muted">It waits for an answer. Take control to give one.</p>
          </div>
        )}
      </StageState>
      {cast.dialog && driving && cast.mayDrive && (
        <PageQuestion key={cast.asked} dialog={cast.dialog} host={host} onAnswer={cast.answer} />
      )}
    </div>
  );
}

/** The site that asks, because the message alone could pretend to be ours. */
function hostOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).host : "";
}
