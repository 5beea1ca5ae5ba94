import { useCallback, useEffect, useRef, useState } from "react";
import { client, explain } from "../api/client";
import type { Folder } from "../api/wire";
import type { LiveEvent } from "../events/event";
import { useSessions } from "../sessions/provider";

/** Many files that come together are one reason to look, not many. */
const lull = 250;

interface Asked {
  path: string;
  folder: Folder | null;
  error: string | null;
}

interface Shown {
  /** Null until it is known what lies in it. */
  folder: Folder | null;
  error: string | null;
  loading: boolean;
  refresh: () => Promise<void>;
}

/** What lies in a folder of a session, again whenever somebody or, as `arrived` counts, we put a file there. */
export function useFolder(sessionId: string, path: string, arrived: number): Shown {
  const { subscribe, stream } = useSessions();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [loading, setLoading] = useState(false);
  const last = useRef(0);

  const refresh = useCallback(async () => {
    const mine = ++last.current;
    setLoading(true);
    const answer = await client.files(sessionId, path).then(
      (folder) => ({ path, folder, error: null }),
      (error: unknown) => ({ path, error: explain(error) }),
    );
    // An answer that was overtaken by a later question is not wanted any more.
    if (mine !== last.current) return;
    // What was there before is better than nothing.
    setAsked((old) => ({ folder: old?.path === path ? old.folder : null, ...answer }));
    setLoading(false);
  }, [sessionId, path]);

  // Also whenever the stream is back: some may have been missed.
  useEffect(() => {
    if (stream !== "connecting") void refresh();
  }, [stream, refresh, arrived]);

  useEffect(() => {
    let timer: number | undefined;
    const stop = subscribe((event) => {
      if (event.kind !== "reset" && !isUpload(event, sessionId)) return;
      window.clearTimeout(timer);
      timer = window.setTimeout(() => void refresh(), lull);
    });
    return () => {
      window.clearTimeout(timer);
      stop();
    };
  }, [subscribe, sessionId, refresh]);

  const current = asked?.path === path ? asked : null;
  return { folder: current?.folder ?? null, error: current?.error ?? null, loading, refresh };
}

function isUpload(event: LiveEvent, sessionId: string): boolean {
  if (event.kind !== "action") return false;
  const { session_id, action, outcome } = event.action;
  return session_id === sessionId && action === "file_upload" && outcome === "ok";
}
