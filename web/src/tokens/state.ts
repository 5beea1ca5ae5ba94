import type { NewToken, Token } from "../api/wire";

/** Why a token no longer works; null for one that does. */
export function endOf(token: Token, now: number): { why: "revoked" | "expired"; at: string } | null {
  if (token.revoked_at) return { why: "revoked", at: token.revoked_at };
  if (Date.parse(token.expires_at) <= now) return { why: "expired", at: token.expires_at };
  return null;
}

const soon = 3 * 86_400_000;

/** Whether a program soon needs a new token: in the last tenth of its life, at most three days. A login is short by nature. */
export function expiresSoon(token: Token, now: number): boolean {
  const end = Date.parse(token.expires_at);
  const warned = Math.min(soon, (end - Date.parse(token.created_at)) / 10);
  return endOf(token, now) === null && !token.human && end - now < warned;
}

export interface Sorted {
  /** Of agents and other programs. */
  programs: Token[];
  /** Of people: logins, and tokens that were made for a person. */
  people: Token[];
  /** Those that no longer work. */
  over: Token[];
}

/** Sorts tokens into groups, each with the newest first. */
export function sortTokens(tokens: Token[], now: number): Sorted {
  const ordered = tokens.toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  const working = ordered.filter((token) => endOf(token, now) === null);
  return {
    programs: working.filter(({ human }) => !human),
    people: working.filter(({ human }) => human),
    over: ordered.filter((token) => endOf(token, now) !== null),
  };
}

/** What a token is called: its label, or who uses it if it has none. */
export function titleOf({ client, human, subject }: Token): string {
  // The server labels every login so.
  if (human && client === "ui") return "Login";
  return client || subject;
}

/** What else tells it from others. */
export function detailOf(token: Token): string {
  return titleOf(token) === token.subject ? `Id ${token.id.slice(0, 8)}` : token.subject;
}

/** The fields of the form for a new token, as the API takes them. */
export function readToken(form: FormData): NewToken {
  const everything = form.get("everything") !== null;
  return {
    label: String(form.get("label") ?? "").trim(),
    // The form offers scopes that the API knows.
    scopes: (everything ? ["admin"] : form.getAll("scope").map(String)) as NonNullable<NewToken["scopes"]>,
    ttl_s: Number(form.get("ttl_s")),
  };
}
