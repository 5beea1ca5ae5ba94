import { useEffect, useRef, useState, type RefObject } from "react";
import { client, explain } from "../api/client";
import { backoff } from "../backoff";
import { merge, type Trace } from "./trace";

/** Milliseconds between two reads. */
const pause = 1000;

interface ReadTrace {
  /** Null until it is read. */
  trace: Trace | null;
  error: string | null;
}

/** The trace of a session, kept current while `element` is visible and the session is live. */
export function useTrace(sessionId: string, live: boolean, element: RefObject<HTMLElement | null>): ReadTrace {
  const [trace, setTrace] = useState<Trace | null>(null);
  const [error, setError] = useState<string | null>(null);
  const read = useRef<Trace | null>(null);

  useEffect(() => {
    if (!live) return;
    let stopped = false;
    let failures = 0;
    let timer: number | undefined;

    const look = async () => {
      try {
        const log = await client.trace(sessionId, read.current?.next);
        if (stopped) return;
        const next = merge(read.current, log, Date.now());
        read.current = next;
        setTrace((old) => (old?.entries === next?.entries ? old : next));
        setError(null);
        failures = 0;
      } catch (caught) {
        if (stopped) return;
        // While a session ends, one call may fail.
        if (failures++ > 0) setError(explain(caught));
      }
    };
    const again = async () => {
      // The panel can be hidden without being unmounted.
      const visible = !document.hidden && element.current?.offsetParent !== null;
      if (visible) await look();
      if (!stopped) timer = window.setTimeout(() => void again(), failures > 0 ? backoff(failures) : pause);
    };
    void again();
    return () => {
      stopped = true;
      window.clearTimeout(timer);
    };
  }, [sessionId, live, element]);

  return { trace, error: live ? error : null };
}
