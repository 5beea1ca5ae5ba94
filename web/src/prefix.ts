/**
 * Where the pages live. Scripts are served from <prefix>assets/, so the module's own address tells the
 * prefix, whatever page it was loaded from and whatever proxy stands before the server.
 */
export const prefix = new URL(/* @vite-ignore */ "..", import.meta.url);

/** Address of an API call, for example `api("sessions/x")`. */
export function api(path: string, base: URL = prefix): string {
  return new URL(`api/v1/${path}`, base).href;
}

/** Address of a socket of the API: http becomes ws, https becomes wss. */
export function socket(path: string, base: URL = prefix): string {
  return toSocket(new URL(`api/v1/${path}`, base)).href;
}

/** Path of a page, for links: `page("sessions/x")`. */
export function page(path: string, base: URL = prefix): string {
  return base.pathname + path;
}

export function toSocket(url: URL): URL {
  const copy = new URL(url);
  copy.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return copy;
}
