import { useSyncExternalStore } from "react";

let now = Date.now();
const listeners = new Set<() => void>();
let timer: number | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= window.setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

function read(): number {
  // Without a running timer the stored time is old.
  if (timer === undefined) now = Date.now();
  return now;
}

/** The current time, updated once a second by one timer for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, read);
}
