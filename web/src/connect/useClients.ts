import { useCallback, useEffect, useState } from "react";
import { client, explain } from "../api/client";
import type { ConnectClient } from "../api/wire";
import { useSessions } from "../sessions/provider";

interface Clients {
  /** Null until they have come. */
  clients: ConnectClient[] | null;
  error: string | null;
}

/** The programs that can be connected. The list is read again whenever one connects. */
export function useClients(): Clients {
  const { subscribe, stream } = useSessions();
  const [state, setState] = useState<Clients>({ clients: null, error: null });

  const load = useCallback(async () => {
    try {
      setState({ clients: await client.connectClients(), error: null });
    } catch (error) {
      setState((old) => ({ ...old, error: explain(error) }));
    }
  }, []);

  // Whatever happened while the stream was away is in the list.
  useEffect(() => {
    if (stream !== "lost") void load();
  }, [stream, load]);
  useEffect(
    () =>
      subscribe(({ kind }) => {
        if (kind === "mcp_client_connected" || kind === "reset") void load();
      }),
    [subscribe, load],
  );
  return state;
}
