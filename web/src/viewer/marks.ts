import type { ActionRecord, Point } from "../api/wire";

/** A mark that an action leaves on the picture for a moment, in pixels of the session's screen. */
export type Mark =
  | { kind: "ripple"; at: Point; rings: number; secondary: boolean }
  | { kind: "dot"; at: Point }
  | { kind: "wheel"; at: Point; direction: string }
  | { kind: "trail"; path: Point[] };

/** How long a mark stays, in milliseconds. */
export const lifetime = 1400;

const rings: Record<string, number> = {
  click: 1,
  modifier_click: 1,
  mouse_down: 1,
  double_click: 2,
  triple_click: 3,
};

/** The mark of an action; null without a position, or if the action failed. */
export function markOf({ action, detail, outcome }: ActionRecord): Mark | null {
  if (outcome !== "ok") return null;
  if (action === "drag") {
    const path = Array.isArray(detail.path) ? detail.path.filter(isPoint) : [];
    return path.length >= 2 ? { kind: "trail", path } : null;
  }
  if (!isPoint(detail)) return null;
  const at = { x: detail.x, y: detail.y };
  const count = rings[action];
  if (count !== undefined) {
    const secondary = detail.button !== undefined && detail.button !== "left";
    return { kind: "ripple", at, rings: count, secondary };
  }
  if (action === "scroll") return { kind: "wheel", at, direction: detail.direction ?? "down" };
  if (action === "mouse_move" || action === "mouse_up") return { kind: "dot", at };
  return null;
}

function isPoint(value: { x?: unknown; y?: unknown }): value is Point {
  return typeof value.x === "number" && typeof value.y === "number";
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** From the session's screen to the overlay: the position and scale of the picture. */
export interface Projection {
  scale: number;
  left: number;
  top: number;
}

export function projection(picture: Box, screenWidth: number, overlay: Box): Projection {
  return {
    scale: screenWidth > 0 ? picture.width / screenWidth : 1,
    left: picture.left - overlay.left,
    top: picture.top - overlay.top,
  };
}

export function project(point: Point, { scale, left, top }: Projection): Point {
  // The centre of a pixel, so that the mark is right at any scale.
  return { x: left + (point.x + 0.5) * scale, y: top + (point.y + 0.5) * scale };
}
