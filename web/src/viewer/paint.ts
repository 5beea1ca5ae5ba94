import { project, type Mark, type Projection } from "./marks";
import type { Point } from "../api/wire";

type Context = CanvasRenderingContext2D;

/** Draws a mark at `age` (0 new, 1 gone). With reduced motion, it only fades. */
export function paintMark(
  context: Context,
  mark: Mark,
  age: number,
  view: Projection,
  colour: string,
  motion: boolean,
): void {
  const grown = motion ? 1 - (1 - age) ** 3 : 0.5;
  context.save();
  context.globalAlpha = motion ? 1 - age ** 2 : 1;
  context.strokeStyle = colour;
  context.fillStyle = colour;
  // A light outline keeps the mark visible on any picture.
  context.shadowColor = "rgb(255 255 255 / 90%)";
  context.shadowBlur = 4;
  context.lineWidth = 2.5;
  context.lineCap = "round";
  context.lineJoin = "round";
  switch (mark.kind) {
    case "ripple":
      paintRipple(context, project(mark.at, view), mark.rings, mark.secondary, grown);
      break;
    case "dot":
      disc(context, project(mark.at, view), 3.5);
      break;
    case "wheel":
      paintWheel(context, project(mark.at, view), mark.direction, grown);
      break;
    case "trail":
      paintTrail(context, mark.path.map((point) => project(point, view)));
      break;
  }
  context.restore();
}

function paintRipple(context: Context, at: Point, rings: number, secondary: boolean, grown: number): void {
  disc(context, at, 4);
  // Other buttons have a dashed line.
  context.setLineDash(secondary ? [4, 5] : []);
  for (let ring = 0; ring < rings; ring += 1) {
    circle(context, at, 7 + 20 * grown + 7 * ring);
    context.stroke();
  }
}

function paintWheel(context: Context, at: Point, direction: string, grown: number): void {
  const turn = { up: -Math.PI / 2, down: Math.PI / 2, left: Math.PI, right: 0 }[direction] ?? 0;
  context.translate(at.x, at.y);
  context.rotate(turn);
  context.translate(14 * grown, 0);
  for (const offset of [-6, 2]) {
    context.beginPath();
    context.moveTo(offset, -7);
    context.lineTo(offset + 7, 0);
    context.lineTo(offset, 7);
    context.stroke();
  }
}

function paintTrail(context: Context, path: Point[]): void {
  const [first, last] = [path[0], path.at(-1)];
  if (!first || !last) return;
  context.beginPath();
  context.moveTo(first.x, first.y);
  for (const point of path.slice(1)) context.lineTo(point.x, point.y);
  context.stroke();
  disc(context, first, 4);
  circle(context, last, 7);
  context.stroke();
}

function circle(context: Context, at: Point, radius: number): void {
  context.beginPath();
  context.arc(at.x, at.y, radius, 0, 2 * Math.PI);
}

function disc(context: Context, at: Point, radius: number): void {
  circle(context, at, radius);
  context.fill();
}
