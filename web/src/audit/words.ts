import type { AuditEntry } from "../api/wire";
import { bytes } from "../format";
import type { IconName } from "../ui/Icon";

const titles: Record<string, string> = {
  "login.succeeded": "Logged in",
  "login.failed": "Login failed",
  "login.throttled": "Logins throttled",
  "login.ended": "Logged out",
  "ticket.created": "Link created",
  "ticket.revoked": "Link revoked",
  "exec.started": "Command started",
  "egress.denied": "Connection refused",
  "mcp.client_connected": "MCP client connected",
  "private_sign_in.started": "Private sign-in started",
  "private_sign_in.ended": "Private sign-in ended",
  "admin.password_reset": "Admin password reset",
  "audit.entries_lost": "Audit entries lost",
  "audit.exported": "Audit log exported",
  "audit.pruned": "Old audit entries removed",
};

/** What happened, in words. An unknown type is spelled out. */
export function titleOf(eventType: string): string {
  const known = Object.hasOwn(titles, eventType) ? titles[eventType] : undefined;
  if (known !== undefined) return known;
  const words = eventType.replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const icons: Record<string, IconName> = {
  login: "person",
  token: "token",
  ticket: "link",
  session: "window",
  control: "hand",
  private_sign_in: "lock",
  exec: "terminal",
  terminal: "terminal",
  file: "file",
  egress: "web",
  pack: "pack",
  vault: "lock",
  artifact: "picture",
  profile: "person",
  mcp: "connect",
  model: "model",
  settings: "settings",
  admin: "key",
};

export function iconOf(eventType: string): IconName {
  const noun = eventType.split(".")[0] ?? "";
  return (Object.hasOwn(icons, noun) ? icons[noun] : undefined) ?? "clipboard";
}

/** Who did it. */
export function actorOf({ actor_subject, actor_label }: AuditEntry): { name: string; label: string } {
  if (actor_subject == null) return { name: "–", label: "" };
  // The server labels every login so.
  const label = actor_label === "ui" ? "web page" : (actor_label ?? "");
  return { name: actor_subject, label: label === actor_subject ? "" : label };
}

/** What it was done to: the label of a token or a link says more than its id. */
export function targetOf({ event_type: eventType, target, details }: AuditEntry): string {
  const label = (details as Record<string, unknown> | null)?.label;
  if (/^(token|ticket)\./.test(eventType) && typeof label === "string") return label;
  if (target == null) return "";
  return target.replace(longId, "$1…");
}

const longId = /^((?:tick-)?[0-9a-f]{8})[0-9a-f]{24,}(-\w+)?$/;

const names: Record<string, string> = {
  ended_sessions: "sessions ended",
  made_for: "for",
  exec_id: "",
  token_id: "",
  human: "",
  attached: "",
  owner: "",
  expires_at: "",
};

/** The details that fit into the row, each as a short text. All of them are shown on request. */
export function detailsOf({ details, actor_subject: subject, target }: AuditEntry): string[] {
  const texts = Object.entries((details ?? {}) as Record<string, unknown>).flatMap(([name, value]) => {
    if (name === "count") return typeof value === "number" && value > 1 ? [`${value} times`] : [];
    if (name === "size" && typeof value === "number") return [bytes(value)];
    if (name === "label") return [];
    if (["reason", "rule", "outcome", "role", "mode"].includes(name)) return [spelled(value)];
    if (name === "subject" && value === subject) return [];
    if (name === "address" && target?.includes(String(value))) return [];
    if (names[name] === "") return [];
    return [`${names[name] ?? spelled(name)}: ${spelled(value)}`];
  });
  return texts.filter((text) => text !== "");
}

/** A value as a text, with names spelled out. */
function spelled(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[a-z]+(_[a-z]+)+$/.test(text) ? text.replaceAll("_", " ") : text;
}
