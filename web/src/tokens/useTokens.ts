import { useCallback, useEffect, useState } from "react";
import { client, explain } from "../api/client";
import type { Token } from "../api/wire";
import { useSessions } from "../sessions/provider";

interface Tokens {
  /** Null until they have come. */
  tokens: Token[] | null;
  error: string | null;
  reload: () => Promise<void>;
}

/** The tokens that the person may see. They are read again whenever an agent connects with one. */
export function useTokens(): Tokens {
  const { subscribe, stream } = useSessions();
  const [tokens, setTokens] = useState<Token[] | null>(null);
  const [error, setError] = useState<string | null>(null);

  const reload = useCallback(async () => {
    try {
      setTokens(await client.tokens());
      setError(null);
    } catch (caught) {
      setError(explain(caught));
    }
  }, []);

  useEffect(() => {
    if (stream !== "lost") void reload();
  }, [stream, reload]);
  useEffect(
    () =>
      subscribe(({ kind }) => {
        if (kind === "mcp_client_connected" || kind === "reset") void reload();
      }),
    [subscribe, reload],
  );
  return { tokens, error, reload };
}
