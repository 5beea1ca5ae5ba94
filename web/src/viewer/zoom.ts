import type { Point } from "../api/wire";
import type { Part, Size } from "./crop";

/** How much larger than fitted a picture is shown, and which of its points is in the middle. */
export interface Zoom {
  factor: number;
  /** In pixels of the session's screen. */
  centre: Point;
}

export const maxZoom = 6;

/** The part of `base` that is seen at this zoom, in the shape of the stage; all of it without zoom. */
export function partOf(zoom: Zoom | null, base: Part, stage: Size): Part {
  if (zoom === null || zoom.factor <= 1) return base;
  const scale = scaleOf(zoom.factor, base, stage);
  const width = Math.min(base.width, stage.width / scale);
  const height = Math.min(base.height, stage.height / scale);
  return {
    x: clamp(zoom.centre.x - width / 2, base.x, base.x + base.width - width),
    y: clamp(zoom.centre.y - height / 2, base.y, base.y + base.height - height),
    width,
    height,
  };
}

/** How large a pixel of the session's screen is on the stage. */
export function scaleOf(factor: number, base: Size, stage: Size): number {
  return Math.min(stage.width / base.width, stage.height / base.height) * factor;
}

/** The point of the session's screen under one of the stage. */
export function screenPoint(at: Point, part: Part, stage: Size): Point {
  const scale = Math.min(stage.width / part.width, stage.height / part.height);
  return {
    x: part.x + part.width / 2 + (at.x - stage.width / 2) / scale,
    y: part.y + part.height / 2 + (at.y - stage.height / 2) / scale,
  };
}

/** Zooms to `factor` so that `point` of the session's screen lies at `at` on the stage. Null is no zoom. */
export function zoomAt(factor: number, point: Point, at: Point, base: Part, stage: Size): Zoom | null {
  const wanted = Math.min(factor, maxZoom);
  if (wanted <= 1.02) return null;
  const scale = scaleOf(wanted, base, stage);
  const centre = { x: point.x + (stage.width / 2 - at.x) / scale, y: point.y + (stage.height / 2 - at.y) / scale };
  // Kept where something is seen, so that the way back is as long as the way there.
  const part = partOf({ factor: wanted, centre }, base, stage);
  return { factor: wanted, centre: { x: part.x + part.width / 2, y: part.y + part.height / 2 } };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
