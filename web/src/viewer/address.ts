import { prefix, socket, toSocket } from "../prefix";
import type { Role } from "../api/wire";
import type { TerminalSize } from "../terminal/connection";

/** The socket of a session's picture, for a signed-in user. */
export function pictureUrl(id: string, role: Role, base: URL = prefix): string {
  return socket(`sessions/${encodeURIComponent(id)}/vnc?role=${role}`, base);
}

/** The socket of a browser's stream with acknowledgements. */
export function castUrl(id: string, role: Role, base: URL = prefix): string {
  return socket(`sessions/${encodeURIComponent(id)}/cdp-stream?role=${role}&ack=true`, base);
}

/** The socket of a new shell in a session. */
export function terminalUrl(id: string, { cols, rows }: TerminalSize, base: URL = prefix): string {
  return socket(`sessions/${encodeURIComponent(id)}/terminal?cols=${cols}&rows=${rows}`, base);
}

/** The address of the stand-alone viewer, parsed. */
export interface ViewerAddress {
  sessionId: string;
  /** What the socket shows. */
  picture: "desktop" | "browser";
  /** The socket, with the ticket if there is one. */
  url: URL;
  ticket: string | null;
  mayControl: boolean;
  autoconnect: boolean;
  resize: "scale" | "remote" | "off";
}

/**
 * Parses the query and fragment of the stand-alone viewer, like noVNC's own pages. A `path` that was not encoded loses
 * everything after its first `&` to the outer query, so `ticket` and `role` are read there, too. Null if the path is
 * not a session of this server.
 */
export function readViewerAddress(search: string, hash: string, base: URL = prefix): ViewerAddress | null {
  const query = new URLSearchParams(search);
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) query.set(name, value);

  const path = (query.get("path") ?? "").replace(/^\/+/, "");
  const url = new URL(path, base);
  const root = new URL("api/v1/sessions/", base);
  if (url.origin !== base.origin || !url.pathname.startsWith(root.pathname)) return null;
  const match = /^([^/]+)\/(vnc|cdp-stream)$/.exec(url.pathname.slice(root.pathname.length));
  if (!match?.[1]) return null;

  for (const name of ["ticket", "role"]) {
    const outer = query.get(name);
    if (outer !== null && !url.searchParams.has(name)) url.searchParams.set(name, outer);
  }
  const resize = query.get("resize");
  return {
    sessionId: decodeURIComponent(match[1]),
    picture: match[2] === "vnc" ? "desktop" : "browser",
    url: toSocket(url),
    ticket: url.searchParams.get("ticket"),
    mayControl: url.searchParams.get("role") === "control",
    autoconnect: ["true", "1"].includes(query.get("autoconnect") ?? "true"),
    resize: resize === "remote" || resize === "off" ? resize : "scale",
  };
}

/** The same socket with acknowledgements. */
export function acknowledging(url: URL): URL {
  const copy = new URL(url);
  copy.searchParams.set("ack", "true");
  return copy;
}

/** The same socket, taking control while it is open, or releasing it. */
export function taking(url: URL, take: boolean): string {
  const copy = new URL(url);
  // A ticket keeps control between connections, so releasing it must be explicit.
  copy.searchParams.set("take", String(take));
  return copy.href;
}
