import { useSyncExternalStore } from "react";

/** Windows without room for a row of labelled buttons: phones, in portrait or landscape. */
const small = window.matchMedia("(max-width: 720px), (max-height: 500px)");

function subscribe(listener: () => void): () => void {
  small.addEventListener("change", listener);
  return () => small.removeEventListener("change", listener);
}

/** Whether the window is as small as a phone's. */
export function useSmall(): boolean {
  return useSyncExternalStore(subscribe, () => small.matches);
}

/** Whether the window is as low as a phone's in landscape. */
export function isShort(): boolean {
  return window.matchMedia("(max-height: 500px)").matches;
}
