import type { ClientConnection, ConnectClient } from "../api/wire";
import type { LiveEvent } from "../events/event";

/** The name and version that a program gave when it connected. */
export function nameOf({ name, version }: Pick<ClientConnection, "name" | "version">): string {
  return version === "" ? name : `${name} ${version}`;
}

/** What a client is called within a sentence. */
export function nameInSentence(id: string, title: string | undefined): string {
  return id === "generic" ? "your client" : (title ?? id);
}

/** Connections with the one that was seen last first. */
export function byTime(connected: ClientConnection[]): ClientConnection[] {
  return connected.toSorted((a, b) => b.last_seen.localeCompare(a.last_seen));
}

/** The connection made with this token, if there is one. */
export function madeWith(clients: ConnectClient[] | null, tokenId: string): ClientConnection | null {
  const connections = (clients ?? []).flatMap(({ connected }) => connected);
  return connections.find((connection) => connection.token_id === tokenId) ?? null;
}

/** The connection that an event reports for this token. */
export function connectedBy(event: LiveEvent, tokenId: string): ClientConnection | null {
  return event.kind === "mcp_client_connected" && event.connection.token_id === tokenId ? event.connection : null;
}

/** Which client the page's address names. */
export function clientIn(search: string): string | null {
  return new URLSearchParams(search).get("client");
}
