import { prefix } from "./prefix";

/** Shell commands; they read the token from $JWT, as in the README. */
const auth = '-H "Authorization: Bearer $JWT"';

export function curlShow(id: string, base: URL = prefix): string {
  return `curl -fsS ${base.href}api/v1/sessions/${id} ${auth}`;
}

export function curlCreate(base: URL = prefix): string {
  return [
    `curl -fsS -X POST ${base.href}api/v1/sessions \\`,
    `  ${auth} \\`,
    `  -d '{"mode": "desktop", "label": "my first desktop"}'`,
  ].join("\n");
}

export function curlScreenshot(id: string, base: URL = prefix): string {
  return [
    `curl -fsS ${base.href}api/v1/desktop/screenshot ${auth} \\`,
    `  -d '{"session_id": "${id}"}' > screen.png`,
  ].join("\n");
}
