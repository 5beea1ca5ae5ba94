import { useEffect, useRef } from "react";
import type { LiveEvent } from "../events/event";
import { lifetime, markOf, projection, type Mark } from "./marks";
import { paintMark } from "./paint";

interface MarkLayerProps {
  sessionId: string;
  subscribe: (listener: (event: LiveEvent) => void) => () => void;
  /** The picture below the marks, if there is one now. */
  picture: () => HTMLCanvasElement | null;
}

/** Shows on the picture where the agent just clicked, scrolled and dragged. */
export function MarkLayer({ sessionId, subscribe, picture }: MarkLayerProps) {
  const overlay = useRef<HTMLCanvasElement>(null);

  useEffect(() => {
    const canvas = overlay.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)");
    const colour = getComputedStyle(canvas).color;
    let marks: { mark: Mark; born: number }[] = [];
    let frame = 0;

    const paint = () => {
      const now = performance.now();
      marks = marks.filter(({ born }) => now - born < lifetime);
      const box = canvas.getBoundingClientRect();
      const density = window.devicePixelRatio;
      canvas.width = Math.round(box.width * density);
      canvas.height = Math.round(box.height * density);
      const below = picture();
      if (below) {
        context.scale(density, density);
        const view = projection(below.getBoundingClientRect(), below.width, box);
        for (const { mark, born } of marks) {
          paintMark(context, mark, (now - born) / lifetime, view, colour, !still.matches);
        }
      }
      // Without marks no frames are requested, so an idle page costs nothing.
      frame = marks.length > 0 ? requestAnimationFrame(paint) : 0;
    };

    const stop = subscribe((event) => {
      if (event.kind !== "action" || event.action.session_id !== sessionId) return;
      // People see their own clicks already.
      const mark = event.action.by.kind === "agent" ? markOf(event.action) : null;
      if (mark === null || document.hidden) return;
      marks.push({ mark, born: performance.now() });
      if (frame === 0) frame = requestAnimationFrame(paint);
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [sessionId, subscribe, picture]);

  return <canvas ref={overlay} className="marks" aria-hidden="true" />;
}
