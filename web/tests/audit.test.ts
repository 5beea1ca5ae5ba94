import { expect, test } from "vitest";
import type { AuditEntry } from "../src/api/wire";
import { apiQuery, canFollow, everything, pageOf, readFilter, streamQuery } from "../src/audit/filter";
import { addRow, firstPage, olderPage } from "../src/audit/state";
import { actorOf, detailsOf, targetOf, titleOf } from "../src/audit/words";
import { nextPage, routeOf } from "../src/router";

const entry = (id: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  id,
  at: "2026-01-02T03:04:05.000006Z",
  event_type: "session.created",
  severity: "info",
  actor_subject: "ann",
  actor_label: null,
  human: false,
  session_id: null,
  target: null,
  details: {},
  remote_address: null,
  previous_hash: "",
  hash: "",
  ...more,
});

const ids = (rows: { entries: AuditEntry[] }) => rows.entries.map(({ id }) => id);

test("a filter survives in the address of the page", () => {
  const filter = { ...everything, kind: "session.*", who: "ann", range: "day" as const };
  expect(pageOf(filter)).toBe("audit?event=session.*&range=day&who=ann");
  expect(readFilter(pageOf(filter).slice("audit".length))).toEqual(filter);
  expect(pageOf(everything)).toBe("audit");
  expect(readFilter("?range=never&severity=bad")).toEqual(everything);
  expect(readFilter("?from=2026-01-01T00:00").from).toBe("");
});

test("a range becomes times of the API, and the tail has none", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  expect(apiQuery({ ...everything, range: "day", severity: "warning" }, now)).toBe(
    "severity=warning&from=2026-01-01T00%3A00%3A00.000Z",
  );
  expect(streamQuery({ ...everything, range: "day", session: "s1" })).toBe("session_id=s1");
  expect(apiQuery({ ...everything, range: "custom", from: "nonsense" }, now)).toBe("");
});

test("a range that is over cannot be followed", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  const to = (at: string) => ({ ...everything, range: "custom" as const, to: at });
  expect(canFollow(everything, now)).toBe(true);
  expect(canFollow(to("2025-01-01T00:00"), now)).toBe(false);
  expect(canFollow(to("2027-01-01T00:00"), now)).toBe(true);
});

test("rows that arrive twice or while a page is read are shown once, newest first", () => {
  const page = { entries: [entry(5), entry(4)], count: 2, next_cursor: 4 };
  const rows = firstPage(page, [entry(5), entry(6), entry(7)]);
  expect(ids(rows)).toEqual([7, 6, 5, 4]);
  expect(addRow(rows, entry(7))).toBe(rows);
  const all = olderPage(rows, { entries: [entry(3)], count: 1, next_cursor: null });
  expect([ids(all), all.next]).toEqual([[7, 6, 5, 4, 3], null]);
});

test("rows beyond the limit of the page can be loaded again", () => {
  const many = Array.from({ length: 2000 }, (_, index) => entry(2000 - index));
  const rows = addRow({ entries: many, next: null }, entry(2001));
  expect([rows.entries.length, rows.entries[0]?.id, rows.next]).toEqual([2000, 2001, 2]);
});

test("events are spelled out, also unknown ones", () => {
  expect(titleOf("login.failed")).toBe("Login failed");
  expect(titleOf("vault.entry_used")).toBe("Vault entry used");
  expect(actorOf(entry(1, { actor_label: "ui" }))).toEqual({ name: "ann", label: "web page" });
  expect(actorOf(entry(1, { actor_subject: null }))).toEqual({ name: "–", label: "" });
});

test("a token is named by its label, and long ids are shortened", () => {
  const token = { event_type: "token.created", target: "0123456789abcdef0123456789abcdef" };
  expect(targetOf(entry(1, { ...token, details: { label: "my agent" } }))).toBe("my agent");
  expect(targetOf(entry(1, token))).toBe("01234567…");
  expect(targetOf(entry(1, { target: "report.pdf", details: { label: "x" } }))).toBe("report.pdf");
  expect(targetOf(entry(1))).toBe("");
});

test("the row shows details that say something", () => {
  const told = (details: object) => detailsOf(entry(1, { details }));
  expect(told({ count: 1 })).toEqual([]);
  expect(told({ count: 12, rule: "10.0.0.0/8 is closed" })).toEqual(["12 times", "10.0.0.0/8 is closed"]);
  expect(told({ reason: "server_stopped", owner: "ann" })).toEqual(["server stopped"]);
  expect(told({ size: 2048, value: true })).toEqual(["2.0 KiB", "value: yes"]);
  expect(told({ subject: "bob", scopes: ["sessions:*"] })).toEqual(["subject: bob", "scopes: sessions:*"]);
  expect(told({ subject: "ann" })).toEqual([]);
});

test("the page has a route, and a login leads back to it", () => {
  expect(routeOf("/x/audit", "/x/")).toEqual({ page: "audit" });
  expect(nextPage("?next=audit%3Fevent%3Dsession.*%26who%3Dann")).toBe("audit?event=session.*&who=ann");
  expect(nextPage("?next=audit%2F..%2Fx")).toBe("");
});
