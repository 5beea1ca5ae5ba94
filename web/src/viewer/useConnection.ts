import { useEffect, useReducer, useRef, type RefObject } from "react";
import { backoff } from "../backoff";
import type { Closing } from "./closing";
import { changeViewer, type ViewerState } from "./state";

interface Told {
  connected: () => void;
  closed: (closing: Closing) => void;
}

interface Kept<C> {
  state: ViewerState;
  /** The current connection. */
  current: RefObject<C | null>;
  retry: () => void;
}

/**
 * Keeps a connection for an element open while there is something to connect to. A lost one is opened again after a
 * while or on request.
 */
export function useConnection<C extends { close: () => void }>(
  target: HTMLElement | null,
  url: string | null,
  open: (target: HTMLElement, url: string, told: Told) => C,
): Kept<C> {
  const current = useRef<C | null>(null);
  const [state, change] = useReducer(changeViewer, { kind: "connecting" });
  const [round, retry] = useReducer((count: number) => count + 1, 0);
  const opening = useRef(open);
  opening.current = open;

  useEffect(() => {
    if (target === null || url === null) return;
    change({ kind: "start" });
    let connection: C;
    try {
      connection = opening.current(target, url, {
        connected: () => change({ kind: "connected" }),
        closed: (closing) => {
          current.current = null;
          change({ kind: "closed", closing });
        },
      });
    } catch (error) {
      // The browser may lack a required feature; the page itself continues.
      const why = error instanceof Error ? error.message : String(error);
      change({ kind: "closed", closing: { kind: "retry", text: `The picture could not be opened (${why}).` } });
      return;
    }
    current.current = connection;
    return () => {
      connection.close();
      current.current = null;
    };
  }, [target, url, round]);

  useEffect(() => {
    if (state.kind !== "reconnecting") return;
    const timer = window.setTimeout(retry, backoff(state.attempt));
    // After waking up or regaining the network, retry at once.
    window.addEventListener("online", retry);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener("online", retry);
    };
  }, [state]);

  return { state, current, retry };
}
