import { useCallback, useEffect, useRef, useState } from "react";
import { client, explain } from "../api/client";
import type { Artifact, ArtifactFilter, ArtifactList } from "../api/wire";
import { useSessions } from "../sessions/provider";

/** How long to wait for the next letter of a search, in milliseconds. */
const pause = 200;

interface Artifacts {
  /** Null until they have come. */
  artifacts: Artifact[] | null;
  /** The last answer, with usage and whether there are more. */
  page: ArtifactList | null;
  /** The packs that have been seen. */
  packs: string[];
  error: string | null;
  reload: () => Promise<void>;
  more: () => Promise<void>;
}

/** The artifacts that match a filter, page by page. */
export function useArtifacts(filter: ArtifactFilter): Artifacts {
  const { stream } = useSessions();
  const { pack, name, content_type } = filter;
  const [artifacts, setArtifacts] = useState<Artifact[] | null>(null);
  const [page, setPage] = useState<ArtifactList | null>(null);
  const [packs, setPacks] = useState<string[]>([]);
  const [error, setError] = useState<string | null>(null);
  // Answers to earlier questions are ignored.
  const asked = useRef(0);

  const load = useCallback(
    async (before?: number) => {
      const number = ++asked.current;
      try {
        const found = await client.artifacts({ pack, name, content_type, before });
        if (number !== asked.current) return;
        setPage(found);
        setArtifacts((old) => (before === undefined ? found.artifacts : [...(old ?? []), ...found.artifacts]));
        setPacks((old) => [...new Set([...old, ...found.artifacts.map((each) => each.pack)])].sort());
        setError(null);
      } catch (caught) {
        if (number === asked.current) setError(explain(caught));
      }
    },
    [pack, name, content_type],
  );

  const first = useRef(true);
  useEffect(() => {
    if (stream === "lost") return;
    const timer = window.setTimeout(() => void load(), first.current ? 0 : pause);
    first.current = false;
    return () => window.clearTimeout(timer);
  }, [stream, load]);

  const reload = useCallback(() => load(), [load]);
  const next = page?.next_before ?? undefined;
  const more = useCallback(() => load(next), [load, next]);
  return { artifacts, page, packs, error, reload, more };
}
