import { useCallback, useEffect, useRef, useState } from "react";
import { client, explain } from "../api/client";
import type { Folder } from "../api/wire";
import type { LiveEvent } from "../events/event";
import { useSessions } from "../sessions/provider";

/** Waits this long, so that many new files cause one reload. */
const lull = 250;

interface Asked {
  path: string;
  folder: Folder | null;
  error: string | null;
}

interface Shown {
  /** Null until loaded. */
  folder: Folder | null;
  error: string | null;
  loading: boolean;
  refresh: () => Promise<void>;
}

/** Lists a folder of a session. Reloads when a file is added, by others or (counted by `arrived`) by us. */
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
    // A newer request has replaced this one.
    if (mine !== last.current) return;
    // The previous content is better than nothing.
    setAsked((old) => ({ folder: old?.path === path ? old.folder : null, ...answer }));
    setLoading(false);
  }, [sessionId, path]);

  // Also reload when the stream is back, because some may have been missed.
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
