import { useEffect, useRef, useState, type CSSProperties } from "react";
import type { Rect, Spot } from "../session/trace";
import { project, projection, type Box, type Projection } from "./marks";

/** Where the picture is in the window, and how many pixels of the session it is wide. */
export interface Shown {
  box: Box;
  width: number;
}

interface SpotLayerProps {
  spot: Spot | null;
  /** A place that a person looks at, or one where something is about to happen. */
  kind?: "look" | "aim";
  /** The picture below, if there is one now. */
  shown: () => Shown | null;
}

/** Points at a place in the picture. */
export function SpotLayer({ spot, kind = "look", shown }: SpotLayerProps) {
  const layer = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Projection | null>(null);

  useEffect(() => {
    if (spot === null) return;
    let frame = 0;
    // The picture can be zoomed and moved meanwhile.
    const follow = () => {
      const below = shown();
      const next = below && layer.current && projection(below.box, below.width, layer.current.getBoundingClientRect());
      setView((old) => (sameView(old, next) ? old : next));
      frame = requestAnimationFrame(follow);
    };
    follow();
    return () => cancelAnimationFrame(frame);
  }, [spot, shown]);

  return (
    <div ref={layer} className="spots" data-kind={kind} aria-hidden="true">
      {spot && view && (
        <>
          {spot.regions.map((region, index) => (
            <div key={index} className="spot-region" style={placed(region, view)} />
          ))}
          {spot.hit && <div className="spot-hit" style={placed(spot.hit, view)} />}
          {spot.at && <div className="spot-point" style={pointed(project(spot.at, view))} />}
        </>
      )}
    </div>
  );
}

function placed({ x, y, width, height }: Rect, { scale, left, top }: Projection): CSSProperties {
  return { left: left + x * scale, top: top + y * scale, width: width * scale, height: height * scale };
}

function pointed({ x, y }: { x: number; y: number }): CSSProperties {
  return { left: x, top: y };
}

function sameView(one: Projection | null, other: Projection | null): boolean {
  return one?.scale === other?.scale && one?.left === other?.left && one?.top === other?.top;
}
