import { useCallback, useEffect, useReducer, useRef } from "react";
import { ApiError, client, explain } from "../api/client";
import { upload } from "../api/upload";
import type { Dropped } from "./drop";
import { fileAddress, freeNames, join } from "./files";
import { changeUploads, isUnderWay, type Upload } from "./uploads";

export interface Uploads {
  list: Upload[];
  /** How many files have arrived so far. */
  arrived: number;
  put: (folder: string, dropped: Dropped) => void;
  retry: (upload: Upload) => void;
  /** Cancels an upload and removes it. */
  drop: (id: number) => void;
  /** Removes completed uploads. */
  clear: () => void;
}

/** Uploads files to a session, one after the other. Uploads continue when the session is no longer shown. */
export function useUploads(sessionId: string): Uploads {
  const send = useCallback<Send>(
    async (file, folder, signal, edit) => {
      const taken = await namesIn(sessionId, folder);
      for (const name of freeNames(file.name, taken)) {
        edit({ name, sent: 0 });
        if (await store(sessionId, join(folder, name), file, signal, (sent) => edit({ sent }))) break;
      }
    },
    [sessionId],
  );
  return useUploadQueue(send);
}

/** Sends one file, and reports how far it is. */
type Send = (
  file: File,
  folder: string,
  signal: AbortSignal,
  edit: (edit: Pick<Partial<Upload>, "name" | "sent">) => void,
) => Promise<void>;

/** Files that are sent one after the other. */
export function useUploadQueue(transfer: Send): Uploads {
  const [list, change] = useReducer(changeUploads, []);
  const [arrived, count] = useReducer((so: number) => so + 1, 0);
  const last = useRef(0);
  const line = useRef(Promise.resolve());
  const stops = useRef(new Map<number, AbortController>());

  const send = useCallback(
    async (id: number, file: File, folder: string, signal: AbortSignal) => {
      if (signal.aborted) return;
      const edit = (edit: Partial<Upload>) => change({ kind: "edit", id, edit });
      edit({ state: "sending" });
      try {
        await transfer(file, folder, signal, edit);
        edit({ state: "done", sent: file.size });
        count();
      } catch (error) {
        if (!signal.aborted) edit({ state: "failed", name: file.name, trouble: explain(error) });
      } finally {
        stops.current.delete(id);
      }
    },
    [transfer],
  );

  const enqueue = useCallback(
    (id: number, file: File, folder: string) => {
      const stop = new AbortController();
      stops.current.set(id, stop);
      line.current = line.current.then(() => send(id, file, folder, stop.signal));
    },
    [send],
  );

  const put = useCallback(
    (folder: string, { files, folders }: Dropped) => {
      const add = (name: string, file: File | null): Upload => ({
        id: ++last.current,
        file,
        name,
        folder,
        state: file ? "waiting" : "failed",
        sent: 0,
        trouble: file ? "" : "Folders cannot be uploaded. Choose the files in it, or make an archive of it.",
      });
      const uploads = [...folders.map((name) => add(name, null)), ...files.map((file) => add(file.name, file))];
      change({ kind: "add", uploads });
      for (const { id, file } of uploads) if (file) enqueue(id, file, folder);
    },
    [enqueue],
  );

  const retry = useCallback(
    ({ id, file, folder }: Upload) => {
      if (file === null) return;
      change({ kind: "edit", id, edit: { state: "waiting", sent: 0, trouble: "" } });
      enqueue(id, file, folder);
    },
    [enqueue],
  );

  const drop = useCallback((id: number) => {
    stops.current.get(id)?.abort();
    stops.current.delete(id);
    change({ kind: "drop", id });
  }, []);

  const clear = useCallback(() => change({ kind: "clear" }), []);

  const busy = list.some(isUnderWay);
  useEffect(() => {
    if (!busy) return;
    // The browser asks before leaving, because that would cancel the uploads.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [busy]);

  return { list, arrived, put, retry, drop, clear };
}

/** If listing fails, uploading is tried anyway and reports the error. */
async function namesIn(sessionId: string, folder: string): Promise<Set<string>> {
  const entries = await client.files(sessionId, folder).then((found) => found.entries, () => []);
  return new Set(entries.map(({ name }) => name));
}

/** False if the name was taken meanwhile. */
async function store(
  sessionId: string,
  path: string,
  file: File,
  signal: AbortSignal,
  onProgress: (sent: number) => void,
): Promise<boolean> {
  try {
    await upload(`${fileAddress(sessionId, path)}?replace=false`, file, { signal, onProgress });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "file_exists") return false;
    throw error;
  }
}
