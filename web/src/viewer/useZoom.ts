import { useEffect, useRef, useState, type RefObject } from "react";
import type { Point } from "../api/wire";
import type { Part, Size } from "./crop";
import { useSizeOf } from "./size";
import { partOf, screenPoint, zoomAt, type Zoom } from "./zoom";

interface ZoomOptions {
  stage: RefObject<HTMLElement | null>;
  /** What is shown without zoom, in pixels of the session's screen; null before the first picture. */
  base: Part | null;
  /** Whether touch moves the picture; otherwise it is input for the session. */
  fingers: boolean;
}

export interface Zoomed {
  /** The visible part; null before the first picture. */
  part: Part | null;
  room: Size | null;
  active: boolean;
  /** Zooms in or out around the centre. */
  step: (by: number) => void;
  reset: () => void;
}

/** Two taps within this time are one gesture. */
export const doubleTap = 300;

/** Pinch, pan and double-tap gestures on a picture. */
export function useZoom({ stage, base, fingers }: ZoomOptions): Zoomed {
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const room = useSizeOf(stage, true);
  const part = base && room && room.width > 0 && room.height > 0 ? partOf(zoom, base, room) : base;
  const now = useRef({ zoom, base, room, part });
  now.current = { zoom, base, room, part };

  useEffect(() => {
    const element = stage.current;
    if (element === null || !fingers) return;
    // The start of a gesture: the screen point under the centre of the touches, and their distance.
    let held: { point: Point; apart: number; factor: number } | null = null;
    let tapped = 0;
    let moved = false;

    const middle = ({ touches }: TouchEvent): Point => {
      const box = element.getBoundingClientRect();
      const all = [...touches];
      return {
        x: all.reduce((sum, touch) => sum + touch.clientX, 0) / all.length - box.left,
        y: all.reduce((sum, touch) => sum + touch.clientY, 0) / all.length - box.top,
      };
    };
    const apartOf = ({ touches: [first, second] }: TouchEvent) =>
      first && second ? Math.hypot(first.clientX - second.clientX, first.clientY - second.clientY) : 0;
    const hold = (event: TouchEvent) => {
      const { zoom, room, part } = now.current;
      if (event.touches.length === 0 || !room || !part) held = null;
      else held = { point: screenPoint(middle(event), part, room), apart: apartOf(event), factor: zoom?.factor ?? 1 };
    };
    const onPicture = (event: TouchEvent) => (event.target as HTMLElement).closest?.(".screen") !== null;

    const onStart = (event: TouchEvent) => {
      if (!onPicture(event)) return;
      // noVNC and the page in the picture get no touches that move the picture.
      event.stopPropagation();
      moved = event.touches.length > 1;
      hold(event);
    };
    const onMove = (event: TouchEvent) => {
      const { base, room, zoom } = now.current;
      if (held === null || !base || !room) return;
      event.stopPropagation();
      const factor = held.apart > 0 ? (held.factor * apartOf(event)) / held.apart : held.factor;
      if (event.touches.length < 2 && zoom === null) return;
      event.preventDefault();
      moved = true;
      setZoom(zoomAt(factor, held.point, middle(event), base, room));
    };
    const onEnd = (event: TouchEvent) => {
      if (held === null) return;
      event.stopPropagation();
      const { base, room, zoom } = now.current;
      const last = event.changedTouches[0];
      if (event.touches.length === 0 && !moved && last && base && room) {
        if (event.timeStamp - tapped < doubleTap) {
          // Prevents a click.
          event.preventDefault();
          const box = element.getBoundingClientRect();
          const at = { x: last.clientX - box.left, y: last.clientY - box.top };
          setZoom(zoom === null ? zoomAt(2.5, held.point, at, base, room) : null);
        }
        tapped = event.timeStamp;
      }
      hold(event);
    };
    const options = { capture: true, passive: false };
    element.addEventListener("touchstart", onStart, options);
    element.addEventListener("touchmove", onMove, options);
    element.addEventListener("touchend", onEnd, options);
    element.addEventListener("touchcancel", onEnd, options);
    return () => {
      element.removeEventListener("touchstart", onStart, options);
      element.removeEventListener("touchmove", onMove, options);
      element.removeEventListener("touchend", onEnd, options);
      element.removeEventListener("touchcancel", onEnd, options);
    };
  }, [stage, fingers]);

  const step = (by: number) => {
    if (!base || !room || !part) return;
    const at = { x: room.width / 2, y: room.height / 2 };
    setZoom(zoomAt((zoom?.factor ?? 1) * by, screenPoint(at, part, room), at, base, room));
  };
  return { part, room, active: zoom !== null, step, reset: () => setZoom(null) };
}
