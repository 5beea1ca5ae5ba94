import { useEffect, useLayoutEffect, useState, type RefObject } from "react";
import type { Size } from "./crop";

/** How large an element is, while that matters. */
export function useSizeOf(element: RefObject<HTMLElement | null>, matters: boolean): Size | null {
  const [size, setSize] = useState<Size | null>(null);
  // Known before anything is painted.
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

/** How large the session's screen is: as its picture in this element is, or was when there was one last. */
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
    // noVNC does not say when the screen is resized, but its canvas shows it.
    const observer = new MutationObserver(measure);
    observer.observe(target, { subtree: true, childList: true, attributeFilter: ["width", "height"] });
    return () => observer.disconnect();
  }, [target]);
  return size;
}
