import { useSyncExternalStore } from "react";

/** Where a row of labelled buttons has no room: on a phone, upright or on its side. */
const small = window.matchMedia("(max-width: 720px), (max-height: 500px)");

function subscribe(listener: () => void): () => void {
  small.addEventListener("change", listener);
  return () => small.removeEventListener("change", listener);
}

/** Whether the window is as small as a phone's. */
export function useSmall(): boolean {
  return useSyncExternalStore(subscribe, () => small.matches);
}

/** Whether the window is as low as that of a phone that lies on its side. */
export function isShort(): boolean {
  return window.matchMedia("(max-height: 500px)").matches;
}
