import { useCallback, useEffect, useState } from "react";
import { client, explain } from "../api/client";
import type { ActionRecord } from "../api/wire";
import { useSessions } from "../sessions/provider";

/** More would make the page slow; older ones can be loaded. */
const most = 2000;

/** Merges two lists without duplicates, oldest first. */
export function merge(some: ActionRecord[], more: ActionRecord[]): ActionRecord[] {
  const last = some.at(-1);
  const first = more[0];
  // The common case: one new action at the end.
  if (!last || !first || first.seq > last.seq) return [...some, ...more].slice(-most);
  const bySeq = new Map([...some, ...more].map((action) => [action.seq, action]));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq).slice(-most);
}

interface Actions {
  actions: ActionRecord[] | null;
  error: string | null;
  /** Whether there may be older ones. */
  older: boolean;
  loadOlder: () => void;
}

/** The actions of a session: the newest hundred, and all later ones. */
export function useActions(sessionId: string): Actions {
  const { subscribe, stream } = useSessions();
  const [actions, setActions] = useState<ActionRecord[] | null>(null);
  const [older, setOlder] = useState(false);
  const [error, setError] = useState<string | null>(null);

  const load = useCallback(
    async (before?: number) => {
      try {
        const loaded = await client.actions(sessionId, before);
        setActions((old) => merge(old ?? [], loaded));
        setOlder(loaded.length >= 100);
        setError(null);
      } catch (caught) {
        setError(explain(caught));
      }
    },
    [sessionId],
  );

  // Reload when the stream is back, because some may have been missed.
  useEffect(() => {
    if (stream === "live") void load();
  }, [stream, load]);

  useEffect(
    () =>
      subscribe((event) => {
        if (event.kind === "reset") void load();
        if (event.kind !== "action" || event.action.session_id !== sessionId) return;
        setActions((old) => merge(old ?? [], [event.action]));
      }),
    [subscribe, sessionId, load],
  );

  const oldest = actions?.[0]?.seq;
  const loadOlder = useCallback(() => void load(oldest), [load, oldest]);
  return { actions, error, older, loadOlder };
}
