import { useCallback, useEffect, useState, type RefObject } from "react";
import { IconButton } from "../ui/IconButton";

export interface FullScreen {
  active: boolean;
  /** Not every phone can. */
  possible: boolean;
  toggle: () => void;
}

/** Full screen for an element and what lies in it. */
export function useFullScreen(element: RefObject<HTMLElement | null>): FullScreen {
  const [active, setActive] = useState(false);
  useEffect(() => {
    const look = () => setActive(document.fullscreenElement !== null);
    document.addEventListener("fullscreenchange", look);
    return () => document.removeEventListener("fullscreenchange", look);
  }, []);
  const toggle = useCallback(() => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void element.current?.requestFullscreen().catch(() => {});
  }, [element]);
  return { active, possible: document.fullscreenEnabled, toggle };
}

/** The way back, beside the picture: the page's own bar is not there then. */
export function LeaveFullScreen({ fullScreen }: { fullScreen: FullScreen }) {
  return fullScreen.active ? <IconButton icon="close" label="Leave full screen" onClick={fullScreen.toggle} /> : null;
}
