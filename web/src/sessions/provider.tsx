import {
  createContext,
  use,
  useCallback,
  useEffect,
  useMemo,
  useReducer,
  useRef,
  type ReactNode,
} from "react";
import { backoff } from "../backoff";
import { client, explain } from "../api/client";
import type { Session } from "../api/wire";
import type { LiveEvent } from "../events/event";
import type { Source, StreamState } from "../events/source";
import { openEvents } from "../events/stream";
import { api } from "../prefix";
import { changeSessions, noSessions, type Sessions } from "./state";

type Listener = (event: LiveEvent) => void;

interface SessionsContext extends Sessions {
  /** Subscribes to all events; returns a function to unsubscribe. */
  subscribe: (listener: Listener) => () => void;
  /** Adds a session from a response before its event arrives. */
  put: (session: Session) => void;
  /** Applies an event from a response before it arrives. */
  note: (event: LiveEvent) => void;
  dismiss: (id: string) => void;
  retry: () => void;
}

const Context = createContext<SessionsContext | null>(null);

export function useSessions(): SessionsContext {
  const value = use(Context);
  if (value === null) throw new Error("useSessions outside of SessionsProvider");
  return value;
}

/** Keeps the list of sessions current with one event stream for the whole page. */
export function SessionsProvider({ children }: { children: ReactNode }) {
  const [state, change] = useReducer(changeSessions, noSessions);
  const listeners = useRef(new Set<Listener>());
  const stream = useRef<Source | null>(null);

  useEffect(() => {
    let closed = false;
    // Events that arrive while the list is loading are newer than the list: they are applied again.
    let missed: LiveEvent[] | null = null;
    let retry: number | undefined;

    const refresh = async (attempt = 0) => {
      window.clearTimeout(retry);
      const since: LiveEvent[] = [];
      missed = since;
      try {
        const sessions = await client.sessions();
        if (closed || missed !== since) return;
        change({ kind: "listed", sessions });
        for (const event of since) change({ kind: "event", event });
      } catch (error) {
        if (closed || missed !== since) return;
        change({ kind: "failed", error: explain(error) });
        retry = window.setTimeout(() => void refresh(attempt + 1), backoff(attempt));
      } finally {
        if (missed === since) missed = null;
      }
    };

    stream.current = openEvents(api("events"), {
      event: (event) => {
        if (event.kind === "reset") void refresh();
        missed?.push(event);
        change({ kind: "event", event });
        for (const listener of listeners.current) listener(event);
      },
      state: (next: StreamState) => {
        change({ kind: "stream", state: next });
        if (next === "live") void refresh();
      },
      // If the login has expired, the client leads to the login page.
      refused: () => void client.me().catch(() => {}),
    });
    return () => {
      closed = true;
      window.clearTimeout(retry);
      stream.current?.close();
    };
  }, []);

  const subscribe = useCallback((listener: Listener) => {
    listeners.current.add(listener);
    return () => void listeners.current.delete(listener);
  }, []);
  const put = useCallback((session: Session) => change({ kind: "created", session }), []);
  const note = useCallback((event: LiveEvent) => change({ kind: "event", event }), []);
  const dismiss = useCallback((id: string) => change({ kind: "dismiss", id }), []);
  const retry = useCallback(() => stream.current?.retry(), []);

  const value = useMemo(
    () => ({ ...state, subscribe, put, note, dismiss, retry }),
    [state, subscribe, put, note, dismiss, retry],
  );
  return <Context value={value}>{children}</Context>;
}
