import type { Point } from "../api/wire";
import type { Part, Size } from "./crop";

/** The zoom relative to the fitted picture, and the point in the centre. */
export interface Zoom {
  factor: number;
  /** In pixels of the session's screen. */
  centre: Point;
}

export const maxZoom = 6;

/** The part of `base` that is visible at this zoom, in the shape of the stage; all of it without zoom. */
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

/** The size of a pixel of the session's screen on the stage. */
export function scaleOf(factor: number, base: Size, stage: Size): number {
  return Math.min(stage.width / base.width, stage.height / base.height) * factor;
}

/** Translates a point of the stage to the session's screen. */
export function screenPoint(at: Point, part: Part, stage: Size): Point {
  const scale = Math.min(stage.width / part.width, stage.height / part.height);
  return {
    x: part.x + part.width / 2 + (at.x - stage.width / 2) / scale,
    y: part.y + part.height / 2 + (at.y - stage.height / 2) / scale,
  };
}

/** Zooms to `factor` so that `point` of the session's screen is at `at` on the stage. Null means no zoom. */
export function zoomAt(factor: number, point: Point, at: Point, base: Part, stage: Size): Zoom | null {
  const wanted = Math.min(factor, maxZoom);
  if (wanted <= 1.02) return null;
  const scale = scaleOf(wanted, base, stage);
  const centre = { x: point.x + (stage.width / 2 - at.x) / scale, y: point.y + (stage.height / 2 - at.y) / scale };
  // Clamped to the visible range, so that panning back reacts at once.
  const part = partOf({ factor: wanted, centre }, base, stage);
  return { factor: wanted, centre: { x: part.x + part.width / 2, y: part.y + part.height / 2 } };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
