import { useEffect, useLayoutEffect, useState, type RefObject } from "react";
import type { Size } from "./crop";

/** The size of an element, measured while `matters`. */
export function useSizeOf(element: RefObject<HTMLElement | null>, matters: boolean): Size | null {
  const [size, setSize] = useState<Size | null>(null);
  // Measured before the first paint.
  useLayoutEffect(() => {
    const measured = element.current;
    if (!matters || measured === null) return;
    const measure = () => setSize({ width: measured.clientWidth, height: measured.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element, matters]);
  return size;
}

/** The size of the session's screen: of the picture in this element, or the last known. */
export function useScreenSize(target: HTMLElement | null): Size | null {
  const [size, setSize] = useState<Size | null>(null);
  useEffect(() => {
    if (target === null) return;
    const measure = () => {
      const canvas = target.querySelector("canvas");
      if (canvas === null || canvas.width === 0 || canvas.height === 0) return;
      const { width, height } = canvas;
      setSize((old) => (old?.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    // noVNC has no event for a resized screen, but its canvas changes.
    const observer = new MutationObserver(measure);
    observer.observe(target, { subtree: true, childList: true, attributeFilter: ["width", "height"] });
    return () => observer.disconnect();
  }, [target]);
  return size;
}
