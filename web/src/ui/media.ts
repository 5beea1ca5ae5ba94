import { useSyncExternalStore } from "react";

/** Windows without room for a row of labelled buttons: phones, in portrait or landscape. */
const small = window.matchMedia("(max-width: 720px), (max-height: 500px)");
/** Windows without room for the links to all pages. */
const narrow = window.matchMedia("(max-width: 1080px)");

function subscribeTo(query: MediaQueryList): (listener: () => void) => () => void {
  return (listener) => {
    query.addEventListener("change", listener);
    return () => query.removeEventListener("change", listener);
  };
}

const toSmall = subscribeTo(small);
const toNarrow = subscribeTo(narrow);

/** Whether the window is as small as a phone's. */
export function useSmall(): boolean {
  return useSyncExternalStore(toSmall, () => small.matches);
}

/** Whether the links to other pages need a menu. */
export function useNarrow(): boolean {
  return useSyncExternalStore(toNarrow, () => narrow.matches);
}

/** Whether the window is as low as a phone's in landscape. */
export function isShort(): boolean {
  return window.matchMedia("(max-height: 500px)").matches;
}
