import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";
import type { Point } from "../api/wire";
import { doubleTap } from "./useZoom";

/** A pointer that moves further than this between press and release did not click. */
const slip = 10;

interface WatchingHintProps {
  /** The stage: a click or a key there, by a person who only watches, shows the hint. */
  stage: RefObject<HTMLElement | null>;
  /** Whether the person only watches, and there is a picture. */
  watching: boolean;
  /** The person in control, if any. */
  holder: string | null;
  /** Takes control; null if not allowed. */
  onTake: (() => void) | null;
}

/** Explains at the pointer why a click has no effect, and offers control. */
export function WatchingHint({ stage, watching, holder, onTake }: WatchingHintProps) {
  const [at, setAt] = useState<(Point & { byKey: boolean }) | null>(null);
  const card = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = stage.current;
    if (element === null || !watching) return;
    // Not with click events: noVNC puts an element under a pressed mouse.
    let pressed: PointerEvent | null = null;
    let tapped = -Infinity;
    const onDown = (event: PointerEvent) => {
      pressed = (event.target as HTMLElement).closest(".screen") ? event : null;
    };
    const onUp = (event: PointerEvent) => {
      const from = pressed?.pointerId === event.pointerId ? pressed : null;
      pressed = null;
      if (from === null || Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) > slip) return;
      // A double tap zooms.
      const second = event.pointerType === "touch" && event.timeStamp - tapped < doubleTap;
      tapped = event.timeStamp;
      const box = element.getBoundingClientRect();
      setAt(second ? null : { x: event.clientX - box.left, y: event.clientY - box.top, byKey: false });
    };
    const onKey = (event: KeyboardEvent) => {
      const typed = event.key === "Enter" || event.key.length === 1;
      if (!typed || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!(event.target as HTMLElement).closest(".screen")) return;
      event.preventDefault();
      setAt({ x: element.clientWidth / 2, y: element.clientHeight / 2, byKey: true });
    };
    element.addEventListener("pointerdown", onDown, { capture: true });
    document.addEventListener("pointerup", onUp, { capture: true });
    element.addEventListener("keydown", onKey);
    return () => {
      element.removeEventListener("pointerdown", onDown, { capture: true });
      document.removeEventListener("pointerup", onUp, { capture: true });
      element.removeEventListener("keydown", onKey);
    };
  }, [stage, watching]);

  useEffect(() => {
    if (!watching) setAt(null);
  }, [watching]);

  // At the pointer, as far as there is room.
  useLayoutEffect(() => {
    const [element, box] = [card.current, stage.current];
    if (at === null || element === null || box === null) return;
    const within = (wanted: number, size: number, room: number) => Math.max(8, Math.min(wanted, room - size - 8));
    element.style.left = `${within(at.x - element.offsetWidth / 2, element.offsetWidth, box.clientWidth)}px`;
    element.style.top = `${within(at.y + 12, element.offsetHeight, box.clientHeight)}px`;
    // Not on a button: further typing must not take control.
    if (at.byKey) element.focus({ preventScroll: true });
  }, [at, stage]);

  useEffect(() => {
    if (at === null) return;
    const outside = (event: PointerEvent) => {
      if (!card.current?.contains(event.target as Node)) setAt(null);
    };
    const escape = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setAt(null);
      stage.current?.querySelector<HTMLElement>(".screen")?.focus({ preventScroll: true });
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("keydown", escape);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("keydown", escape);
    };
  }, [at, stage]);

  if (at === null || !watching) return null;
  const close = () => setAt(null);
  return (
    <div
      ref={card}
      className="watching-hint card"
      role="dialog"
      aria-label="You are watching"
      tabIndex={-1}
    >
      <p>
        {holder === null ? "You are watching." : `You are watching. ${holder} is driving by hand.`}
        {onTake !== null ? " Take control?" : " You may not take control here."}
      </p>
      <div className="row">
        {onTake !== null && (
          <button
            type="button"
            className="primary"
            onClick={() => {
              close();
              onTake();
            }}
          >
            Take control
          </button>
        )}
        <button type="button" onClick={close}>
          {onTake !== null ? "Keep watching" : "OK"}
        </button>
      </div>
    </div>
  );
}
