import { useCallback, useEffect, useState, type RefObject } from "react";
import { IconButton } from "../ui/IconButton";

export interface FullScreen {
  active: boolean;
  toggle: () => void;
}

/** Full screen for an element; on phones without it, the element fills the window. */
export function useFullScreen(element: RefObject<HTMLElement | null>): FullScreen {
  const [whole, setWhole] = useState(false);
  const [filled, setFilled] = useState(false);
  useEffect(() => {
    const look = () => setWhole(document.fullscreenElement !== null);
    document.addEventListener("fullscreenchange", look);
    return () => document.removeEventListener("fullscreenchange", look);
  }, []);
  const active = whole || filled;
  const toggle = useCallback(() => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else if (filled) setFilled(false);
    else if (!document.fullscreenEnabled) setFilled(true);
    else void element.current?.requestFullscreen().catch(() => setFilled(true));
  }, [element, filled]);
  useEffect(() => {
    const target = element.current;
    if (target) target.dataset.filled = String(active);
  }, [element, active]);
  return { active, toggle };
}

/** The button to leave full screen, beside the picture: the page's toolbar is hidden then. */
export function LeaveFullScreen({ fullScreen }: { fullScreen: FullScreen }) {
  return fullScreen.active ? <IconButton icon="close" label="Leave full screen" onClick={fullScreen.toggle} /> : null;
}
