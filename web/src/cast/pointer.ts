import type { Point } from "../api/wire";
import type { MouseButton } from "./message";

const names: MouseButton[] = ["left", "middle", "right", "back", "forward"];

/** The button of a mouse event. */
export function buttonOf(number: number): MouseButton {
  return names[number] ?? "none";
}

/** As the sets of buttons count: bit 1 is the right one, not the middle one. */
export function bitOf(button: MouseButton): number {
  return { none: 0, left: 1, right: 2, middle: 4, back: 8, forward: 16 }[button];
}

/** Within this time and so near, another click is one of several. */
const together = { milliseconds: 500, pixels: 5 };

/** Counts clicks: the second of a double click says that it is the second. */
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
    // After the third it begins anew, as in any text.
    this.count = again ? (this.count % 3) + 1 : 1;
    this.last = { at, when, button };
    return this.count;
  }
}

/** How far a wheel turned, in pixels of the page, whatever it counts in. */
export function wheelOf({ deltaX, deltaY, deltaMode }: WheelTurn, pageHeight: number): Point {
  const unit = deltaMode === 1 ? 40 : deltaMode === 2 ? pageHeight : 1;
  const most = (turned: number) => Math.max(-10_000, Math.min(10_000, turned * unit));
  return { x: most(deltaX), y: most(deltaY) };
}

type WheelTurn = Pick<WheelEvent, "deltaX" | "deltaY" | "deltaMode">;
