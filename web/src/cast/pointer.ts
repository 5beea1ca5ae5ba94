import type { Point } from "../api/wire";
import type { MouseButton } from "./message";

const names: MouseButton[] = ["left", "middle", "right", "back", "forward"];

/** The button of a mouse event. */
export function buttonOf(number: number): MouseButton {
  return names[number] ?? "none";
}

/** The bit in a set of buttons: bit 1 is the right button, not the middle one. */
export function bitOf(button: MouseButton): number {
  return { none: 0, left: 1, right: 2, middle: 4, back: 8, forward: 16 }[button];
}

/** Clicks within this time and distance belong together. */
const together = { milliseconds: 500, pixels: 5 };

/** Counts clicks, so that the second of a double click is marked as such. */
export class Clicks {
  private last: { at: Point; when: number; button: MouseButton } | null = null;
  private count = 0;

  next(at: Point, button: MouseButton, when: number): number {
    const { last } = this;
    const again =
      last !== null &&
      last.button === button &&
      when - last.when <= together.milliseconds &&
      Math.hypot(at.x - last.at.x, at.y - last.at.y) <= together.pixels;
    // Starts again after the third, as in any text.
    this.count = again ? (this.count % 3) + 1 : 1;
    this.last = { at, when, button };
    return this.count;
  }
}

/** The distance of a wheel event in page pixels, in any unit. */
export function wheelOf({ deltaX, deltaY, deltaMode }: WheelTurn, pageHeight: number): Point {
  const unit = deltaMode === 1 ? 40 : deltaMode === 2 ? pageHeight : 1;
  const most = (turned: number) => Math.max(-10_000, Math.min(10_000, turned * unit));
  return { x: most(deltaX), y: most(deltaY) };
}

type WheelTurn = Pick<WheelEvent, "deltaX" | "deltaY" | "deltaMode">;
