import { sentenceOf } from "../sessions/name";
import type { Closing } from "./closing";

/**
 * Finds out why a socket did not open. The browser gives no reason, so the same address is requested with HTTP. Null if
 * the answer explains nothing.
 */
export async function probe(socketUrl: string): Promise<Closing | null> {
  const url = new URL(socketUrl);
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  const response = await fetch(url, { credentials: "same-origin" }).catch(() => null);
  if (response === null) return null;
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  return closingOfAnswer(response.status, body.error, body.end_reason);
}

export function closingOfAnswer(status: number, code: unknown, endReason?: unknown): Closing | null {
  if (code === "invalid_ticket") {
    return { kind: "refused", text: "This link is not valid or has expired. Ask for a new one." };
  }
  if (code === "ticket_in_use") {
    return { kind: "retry", text: "This link is open in another window. It works in one window at a time." };
  }
  if (code === "cdp_unavailable") return { kind: "retry", text: "The browser has not started yet." };
  switch (status) {
    case 401:
      return { kind: "refused", text: "You are not logged in." };
    case 403:
      return { kind: "refused", text: "You may not watch this session." };
    case 404:
    case 410: {
      const why = sentenceOf(endReason);
      return { kind: "over", text: why === null ? "This session no longer exists." : `The session is over. ${why}` };
    }
    default:
      return null;
  }
}
