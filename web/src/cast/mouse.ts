import type { Point } from "../api/wire";
import { modifiersOf } from "./keys";
import { mac } from "./mac";
import type { CastRequest, MouseButton, TouchParams } from "./message";
import { bitOf, buttonOf, Clicks, wheelOf } from "./pointer";

type Finger = TouchParams["touchPoints"][number];

interface MouseHandlers {
  send: (request: CastRequest) => void;
  /** Translates a point of the window to the page. */
  place: (at: Point, dragging: boolean) => Point | null;
  /** The height of the page in CSS pixels. */
  pageHeight: () => number;
  /** A button was pressed: the picture gets the keyboard. */
  pressed: () => void;
}

/** Forwards mouse, pen and touch input on the picture. */
export class Mouse {
  /** When false, input is left to the page. */
  active = false;
  private readonly deaf = new AbortController();
  private readonly clicks = new Clicks();
  private readonly fingers = new Map<number, Finger>();
  private held: MouseButton[] = [];
  private last: Point = { x: 0, y: 0 };
  private clickCount = 1;
  /** Moves can be faster than the screen: only the last is sent, once per animation frame. */
  private move: CastRequest | null = null;
  private turned: { at: Point; by: Point; modifiers: number } | null = null;
  private slid: TouchParams | null = null;
  private frame = 0;

  constructor(
    private readonly surface: HTMLElement,
    private readonly handlers: MouseHandlers,
  ) {
    const { signal } = this.deaf;
    surface.addEventListener("pointerdown", this.onDown, { signal });
    surface.addEventListener("pointermove", this.onMove, { signal });
    surface.addEventListener("pointerup", this.onUp, { signal });
    surface.addEventListener("pointercancel", this.onCancel, { signal });
    surface.addEventListener("wheel", this.onWheel, { signal, passive: false });
    // A press must not take the focus from the keyboard field, and no context menu may cover the page's.
    for (const name of ["mousedown", "contextmenu", "auxclick"]) {
      surface.addEventListener(name, (event) => this.active && event.preventDefault(), { signal });
    }
  }

  /** Releases all held buttons and touches. */
  release(): void {
    this.flush();
    for (const button of this.held.toReversed()) this.let(button, this.last, 0);
    if (this.fingers.size > 0) this.touch("touchCancel", 0);
    this.fingers.clear();
  }

  close(): void {
    this.deaf.abort();
    cancelAnimationFrame(this.frame);
  }

  private onDown = (event: PointerEvent): void => {
    const at = this.active ? this.place(event, false) : null;
    if (at === null) return;
    this.flush();
    this.surface.setPointerCapture(event.pointerId);
    const modifiers = modifiersOf(event, mac);
    if (event.pointerType === "touch") {
      this.fingers.set(event.pointerId, { ...at, id: this.freeId() });
      this.touch("touchStart", modifiers);
      return;
    }
    const button = buttonOf(event.button);
    this.clickCount = this.clicks.next(at, button, event.timeStamp);
    this.press(button, at, modifiers);
    this.handlers.pressed();
  };

  private onMove = (event: PointerEvent): void => {
    if (!this.active) return;
    const touching = event.pointerType === "touch";
    const finger = this.fingers.get(event.pointerId);
    if (touching && finger === undefined) return;
    const at = this.place(event, touching || this.held.length > 0);
    if (at === null) return;
    const modifiers = modifiersOf(event, mac);
    if (finger !== undefined) {
      this.fingers.set(event.pointerId, { ...at, id: finger.id });
      this.slid = { type: "touchMove", touchPoints: [...this.fingers.values()], modifiers };
      this.soon();
      return;
    }
    // A second button is reported as a move.
    const button = buttonOf(event.button);
    if (event.button >= 0 && bitOf(button) & event.buttons && !this.held.includes(button)) {
      this.flush();
      this.press(button, at, modifiers);
    } else if (event.button >= 0 && this.held.includes(button)) {
      this.flush();
      this.let(button, at, modifiers);
    } else {
      const buttons = this.buttons();
      const first = this.held[0] ?? "none";
      this.last = at;
      this.move = mouse({ type: "mouseMoved", ...at, button: first, buttons, modifiers });
      this.soon();
    }
  };

  private onUp = (event: PointerEvent): void => {
    const modifiers = modifiersOf(event, mac);
    this.flush();
    if (event.pointerType === "touch") {
      if (!this.fingers.delete(event.pointerId)) return;
      // A lifted finger is missing from the list of the remaining ones.
      this.touch(this.fingers.size === 0 ? "touchEnd" : "touchMove", modifiers);
      return;
    }
    const button = buttonOf(event.button);
    if (this.held.includes(button)) this.let(button, this.place(event, true) ?? this.last, modifiers);
  };

  private onCancel = (): void => this.release();

  private onWheel = (event: WheelEvent): void => {
    const at = this.active ? this.place(event, false) : null;
    if (at === null) return;
    event.preventDefault();
    const by = wheelOf(event, this.handlers.pageHeight());
    const before = this.turned?.by ?? { x: 0, y: 0 };
    this.turned = { at, by: { x: before.x + by.x, y: before.y + by.y }, modifiers: modifiersOf(event, mac) };
    this.soon();
  };

  private press(button: MouseButton, at: Point, modifiers: number): void {
    this.held.push(button);
    this.last = at;
    const { clickCount } = this;
    this.send({ type: "mousePressed", ...at, button, buttons: this.buttons(), clickCount, modifiers });
  }

  private let(button: MouseButton, at: Point, modifiers: number): void {
    this.held = this.held.filter((other) => other !== button);
    this.last = at;
    const { clickCount } = this;
    this.send({ type: "mouseReleased", ...at, button, buttons: this.buttons(), clickCount, modifiers });
  }

  private send(params: Parameters<typeof mouse>[0]): void {
    this.handlers.send(mouse(params));
  }

  private touch(type: TouchParams["type"], modifiers: number): void {
    const touchPoints = type === "touchStart" || type === "touchMove" ? [...this.fingers.values()] : [];
    this.handlers.send({ method: "Input.dispatchTouchEvent", params: { type, touchPoints, modifiers } });
  }

  /** The lowest free number; a finger keeps its number while it is down. */
  private freeId(): number {
    const taken = [...this.fingers.values()].map(({ id }) => id);
    let id = 0;
    while (taken.includes(id)) id += 1;
    return id;
  }

  private buttons(): number {
    return this.held.reduce((all, button) => all | bitOf(button), 0);
  }

  private place(event: { clientX: number; clientY: number }, dragging: boolean): Point | null {
    return this.handlers.place({ x: event.clientX, y: event.clientY }, dragging);
  }

  private soon(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.flush());
  }

  /** Sends pending moves before the next event. */
  private flush(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { move, slid, turned } = this;
    [this.move, this.slid, this.turned] = [null, null, null];
    if (move !== null) this.handlers.send(move);
    if (slid !== null) this.handlers.send({ method: "Input.dispatchTouchEvent", params: slid });
    if (turned !== null) {
      const { at, by, modifiers } = turned;
      this.send({ type: "mouseWheel", ...at, deltaX: by.x, deltaY: by.y, modifiers });
    }
  }
}

function mouse(params: Extract<CastRequest, { method: "Input.dispatchMouseEvent" }>["params"]): CastRequest {
  return { method: "Input.dispatchMouseEvent", params };
}
