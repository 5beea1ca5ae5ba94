import type { Closing } from "./closing";

/**
 * Why a socket did not even open. A browser does not tell, so the same address is asked by a plain
 * request; null if the answer explains nothing.
 */
export async function probe(socketUrl: string): Promise<Closing | null> {
  const url = new URL(socketUrl);
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  const response = await fetch(url, { credentials: "same-origin" }).catch(() => null);
  return response === null ? null : closingOfStatus(response.status);
}

export function closingOfStatus(status: number): Closing | null {
  switch (status) {
    case 401:
      return { kind: "refused", text: "You are not logged in, or the link has expired." };
    case 403:
      return { kind: "refused", text: "You may not watch this session." };
    case 404:
    case 410:
      return { kind: "over", text: "There is no such session any more." };
    default:
      return null;
  }
}
