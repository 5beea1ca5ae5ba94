import { useEffect, useState } from "react";
import { client, explain } from "../api/client";
import type { Pack } from "../api/wire";
import { useSessions } from "../sessions/provider";

interface Loaded<T> {
  /** Null until it has come. */
  value: T | null;
  error: string | null;
}

/** All packs; again after the connection was lost, because another server may answer then. */
export function usePacks(): Loaded<Pack[]> {
  return useLoaded("all", () => client.packs());
}

/** A pack with its schemas. */
export function usePack(name: string): Loaded<Pack> {
  return useLoaded(name, () => client.pack(name));
}

function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const { stream } = useSessions();
  const [loaded, setLoaded] = useState<Loaded<T> & { key: string }>({ key, value: null, error: null });
  const lost = stream === "lost";
  useEffect(() => {
    if (lost) return;
    let current = true;
    load().then(
      (value) => current && setLoaded({ key, value, error: null }),
      (caught: unknown) => current && setLoaded({ key, value: null, error: explain(caught) }),
    );
    return () => {
      current = false;
    };
  }, [key, lost]);
  return loaded.key === key ? loaded : { value: null, error: null };
}
