/**
 * The base address of the pages. Scripts are served from <prefix>assets/, so the module's own address gives the prefix,
 * for any page and behind any proxy.
 */
export const prefix = new URL(/* @vite-ignore */ "..", import.meta.url);

/** The address of an API call, for example `api("sessions/x")`. */
export function api(path: string, base: URL = prefix): string {
  return new URL(`api/v1/${path}`, base).href;
}

/** The address of a WebSocket of the API: http becomes ws, https becomes wss. */
export function socket(path: string, base: URL = prefix): string {
  return toSocket(new URL(`api/v1/${path}`, base)).href;
}

/** The path of a page, for links: `page("sessions/x")`. */
export function page(path: string, base: URL = prefix): string {
  return base.pathname + path;
}

export function toSocket(url: URL): URL {
  const copy = new URL(url);
  copy.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return copy;
}
