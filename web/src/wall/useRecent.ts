import { useCallback, useEffect, useState } from "react";
import { client, explain } from "../api/client";
import type { Session } from "../api/wire";
import { useSessions } from "../sessions/provider";
import { isOver } from "../sessions/state";

/** The server's limit per request. */
const most = 200;

interface Recent {
  /** Null until loaded. */
  sessions: Session[] | null;
  error: string | null;
}

/** The ended sessions, latest first, loaded while they are shown. */
export function useRecent(shown: boolean): Recent {
  const { subscribe, stream } = useSessions();
  const [recent, setRecent] = useState<Recent>({ sessions: null, error: null });

  const load = useCallback(async () => {
    try {
      setRecent({ sessions: await client.ended(most), error: null });
    } catch (error) {
      setRecent((old) => ({ ...old, error: explain(error) }));
    }
  }, []);

  useEffect(() => {
    if (shown) void load();
  }, [shown, stream, load]);
  useEffect(() => {
    if (!shown) return;
    return subscribe((event) => {
      if (event.kind === "session_gone" || (event.kind === "session" && isOver(event.session))) void load();
    });
  }, [shown, subscribe, load]);
  return recent;
}
