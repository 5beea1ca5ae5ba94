import { useCallback, useEffect, useState } from "react";
import { client, explain } from "../api/client";
import type { Credential } from "../api/wire";

interface Credentials {
  /** Null until they have come. */
  credentials: Credential[] | null;
  error: string | null;
  reload: () => Promise<void>;
}

/** The credentials that the person may manage. */
export function useCredentials(): Credentials {
  const [credentials, setCredentials] = useState<Credential[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const reload = useCallback(async () => {
    try {
      setCredentials(await client.credentials());
      setError(null);
    } catch (caught) {
      setError(explain(caught));
    }
  }, []);
  useEffect(() => void reload(), [reload]);
  return { credentials, error, reload };
}
