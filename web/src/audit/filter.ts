/** What the page shows, as written in its address. */
export interface Filter {
  /** A type of event, or all types of a noun: `session.*`. Empty for all. */
  kind: string;
  severity: string;
  who: string;
  session: string;
  range: Range;
  /** Only with the range `custom`: local times of the form's fields. */
  from: string;
  to: string;
}

export type Range = "all" | "hour" | "day" | "week" | "month" | "custom";

export const kinds = [
  { value: "", text: "All events" },
  { value: "login.*", text: "Logins" },
  { value: "token.*", text: "Tokens" },
  { value: "ticket.*", text: "Shared links" },
  { value: "session.*", text: "Sessions" },
  { value: "control.*", text: "Control" },
  { value: "private_sign_in.*", text: "Private sign-ins" },
  { value: "exec.*", text: "Commands" },
  { value: "terminal.*", text: "Terminals" },
  { value: "file.*", text: "Files" },
  { value: "egress.*", text: "Refused connections" },
  { value: "pack.*", text: "Packs" },
  { value: "webhook.*", text: "Webhooks" },
  { value: "vault.*", text: "Vault" },
  { value: "profile.*", text: "Profiles" },
  { value: "extension.*", text: "Extensions" },
  { value: "mcp.*", text: "MCP clients" },
  { value: "settings.*", text: "Settings" },
  { value: "admin.*", text: "Admin account" },
  { value: "server.*", text: "Server" },
  { value: "audit.*", text: "Audit log" },
] as const;

export const severities = [
  { value: "", text: "Any severity" },
  { value: "info", text: "Info" },
  { value: "warning", text: "Warning" },
  { value: "error", text: "Error" },
] as const;

export const ranges: { value: Range; text: string }[] = [
  { value: "all", text: "Any time" },
  { value: "hour", text: "Last hour" },
  { value: "day", text: "Last 24 hours" },
  { value: "week", text: "Last 7 days" },
  { value: "month", text: "Last 30 days" },
  { value: "custom", text: "From … to …" },
];

const hour = 3_600_000;
const lengths: Partial<Record<Range, number>> = { hour, day: 24 * hour, week: 168 * hour, month: 720 * hour };

export const everything: Filter = { kind: "", severity: "", who: "", session: "", range: "all", from: "", to: "" };

/** The filter in the query of the page's address. */
export function readFilter(search: string): Filter {
  const query = new URLSearchParams(search);
  const text = (name: string) => query.get(name) ?? "";
  const range = ranges.find(({ value }) => value === text("range"))?.value ?? "all";
  return {
    kind: text("event"),
    severity: severities.find(({ value }) => value === text("severity"))?.value ?? "",
    who: text("who"),
    session: text("session"),
    range,
    from: range === "custom" ? text("from") : "",
    to: range === "custom" ? text("to") : "",
  };
}

/** The page's address with this filter. */
export function pageOf({ kind, range, ...rest }: Filter): string {
  const custom = range === "custom" ? rest : { ...rest, from: "", to: "" };
  const query = queryOf({ event: kind, range: range === "all" ? "" : range, ...custom });
  return query === "" ? "audit" : `audit?${query}`;
}

/** The filter as the API takes it. */
export function apiQuery(filter: Filter, now: number): string {
  const length = lengths[filter.range];
  const from = length === undefined ? moment(filter.from) : new Date(now - length).toISOString();
  return queryOf({ ...streamFields(filter), from, to: moment(filter.to) });
}

/** The filter of the live tail, which has no times. */
export function streamQuery(filter: Filter): string {
  return queryOf(streamFields(filter));
}

/** Whether new rows can match: not if the time range is over. */
export function canFollow(filter: Filter, now: number): boolean {
  return filter.to === "" || !(Date.parse(filter.to) <= now);
}

function streamFields({ kind, severity, who, session }: Filter) {
  return { event_type: kind, severity, actor_subject: who, session_id: session };
}

function queryOf(fields: Record<string, string>): string {
  return new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== "")).toString();
}

/** A local time of a form's field as the API takes it; empty if it is incomplete. */
function moment(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}
