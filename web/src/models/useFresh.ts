import { useCallback, useEffect, useRef, useState } from "react";
import { explain } from "../api/client";
import { useSessions } from "../sessions/provider";

/** How often a visible page reads again, in milliseconds. */
const period = 30_000;

export interface Fresh<T> {
  /** Null until it has come. */
  value: T | null;
  error: string | null;
  reload: () => Promise<void>;
}

/**
 * What `load` returns, read again when the window gets the focus, when the server is back, and every 30 seconds while
 * the page is visible. Without `load`, nothing is read.
 */
export function useFresh<T>(load: (() => Promise<T>) | null): Fresh<T> {
  const { stream } = useSessions();
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<string | null>(null);
  // Answers to earlier questions are ignored.
  const asked = useRef(0);
  const askedAt = useRef(0);

  const reload = useCallback(async () => {
    if (load === null) return;
    const number = ++asked.current;
    askedAt.current = Date.now();
    try {
      const found = await load();
      if (number !== asked.current) return;
      setValue(found);
      setError(null);
    } catch (caught) {
      if (number === asked.current) setError(explain(caught));
    }
  }, [load]);

  useEffect(() => {
    if (stream !== "lost") void reload();
  }, [stream, reload]);
  useEffect(() => {
    const ask = () => {
      // A window that appears also gets the focus.
      const justAsked = Date.now() - askedAt.current < 1000;
      if (document.visibilityState === "visible" && !justAsked) void reload();
    };
    const timer = window.setInterval(ask, period);
    window.addEventListener("focus", ask);
    document.addEventListener("visibilitychange", ask);
    return () => {
      window.clearInterval(timer);
      window.removeEventListener("focus", ask);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [reload]);
  return { value, error, reload };
}
