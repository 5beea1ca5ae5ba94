import { describe, expect, it } from "vitest";
import type { Control, Session } from "../src/api/wire";
import { lossOf } from "../src/session/loss";
import { ended, endOf } from "../src/sessions/end";
import { driverName, driverOf, endingOf, nameOf } from "../src/sessions/name";
import { deadlineOf, idleWarning, shownDeadlineOf } from "../src/sessions/deadline";
import { changeSessions, forWall, matches, noSessions, type Sessions, type SessionsChange } from "../src/sessions/state";

function session(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    container_id: "",
    status: "running",
    mode: "desktop",
    owner: "admin",
    created_at: `2026-01-01T00:00:0${id.length}Z`,
    timings: [],
    egress: { allowed: 0, denied: 0, failed: 0 },
    tasks: 0,
    agent_status: "",
    control: control(0),
    spec: {},
    ...more,
  };
}

function control(epoch: number, more: Partial<Control> = {}): Control {
  return { driver: "agent", holder: null, epoch, since: null, message: null, yours: false, ...more };
}

function after(...changes: SessionsChange[]): Sessions {
  return changes.reduce(changeSessions, noSessions);
}

const ids = (state: Sessions) => forWall(state).map(({ id }) => id);

describe("sessions", () => {
  it("shows a new session at once and changes it in place", () => {
    const state = after(
      { kind: "listed", sessions: [session("a")] },
      { kind: "event", event: { kind: "session", session: session("bb", { status: "starting" }) } },
      { kind: "event", event: { kind: "session", session: session("bb") } },
    );
    expect(ids(state)).toEqual(["bb", "a"]);
    expect(state.list?.[1]?.status).toBe("running");
  });

  it("does not let the answer to a request undo a newer event", () => {
    const state = after(
      { kind: "event", event: { kind: "session", session: session("a", { status: "running" }) } },
      { kind: "created", session: session("a", { status: "starting" }) },
    );
    expect(state.list?.[0]?.status).toBe("running");
  });

  it("keeps ended sessions at the end until they are gone or dismissed", () => {
    const listed: SessionsChange = {
      kind: "listed",
      sessions: [session("a"), session("bb", { status: "terminated" }), session("ccc", { status: "error" })],
    };
    expect(ids(after(listed))).toEqual(["a", "ccc", "bb"]);
    expect(ids(after(listed, { kind: "dismiss", id: "ccc" }))).toEqual(["a", "bb"]);
    expect(ids(after(listed, { kind: "event", event: { kind: "session_gone", id: "bb", end: null } }))).toEqual(["a", "ccc"]);
  });

  it("takes the later change of control, whatever the order it comes in", () => {
    const told = (epoch: number): SessionsChange => ({
      kind: "event",
      event: { kind: "control", sessionId: "a", control: control(epoch) },
    });
    const state = after({ kind: "listed", sessions: [session("a")] }, told(3), told(2));
    expect(state.list?.[0]?.control?.epoch).toBe(3);
  });

  it("keeps what the agent says", () => {
    const state = after(
      { kind: "listed", sessions: [session("a")] },
      { kind: "event", event: { kind: "agent_status", sessionId: "a", status: "reading" } },
    );
    expect(state.list?.[0]?.agent_status).toBe("reading");
  });
});

describe("the end of a session", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();

  it("is the sooner of its two limits", () => {
    expect(deadlineOf(session("a"))).toBeNull();
    expect(deadlineOf(session("a", { expires_at: at(60) }))).toEqual({ at: now + 60_000, why: "limit" });
    expect(deadlineOf(session("a", { expires_at: at(60), idle_ends_at: at(9) }))?.why).toBe("idle");
    expect(deadlineOf(session("a", { expires_at: at(6), idle_ends_at: at(9) }))?.why).toBe("limit");
    const driven = session("a", { expires_at: at(60), idle_ends_at: at(9) });
    driven.control = { ...driven.control, driver: "human" };
    expect(shownDeadlineOf(driven)?.why).toBe("limit");
    expect(shownDeadlineOf({ ...driven, expires_at: null })).toBeNull();
  });

  it("is warned of a minute before an idle end, or at half of a short idle limit", () => {
    const idle = (left: number, limit: number) =>
      idleWarning(session("a", { idle_ends_at: at(left), spec: { idle_timeout_s: limit } }), now);
    expect(idle(61, 300)).toBeNull();
    expect(idle(60, 300)).toBe(60_000);
    expect(idle(6, 10)).toBeNull();
    expect(idle(5, 10)).toBe(5000);
    expect(idle(-1, 10)).toBe(0);
    expect(idleWarning(session("a", { expires_at: at(5) }), now)).toBeNull();
  });

  it("moves with what the server tells, and stops while the session is in use", () => {
    const told = (idleEndsAt: string | null): SessionsChange => ({
      kind: "event",
      event: { kind: "idle", sessionId: "a", idleEndsAt },
    });
    const listed: SessionsChange = { kind: "listed", sessions: [session("a")] };
    expect(after(listed, told(at(5))).list?.[0]?.idle_ends_at).toBe(at(5));
    expect(after(listed, told(at(5)), told(null)).list?.[0]?.idle_ends_at).toBeNull();
  });
});

it("says that an agent drives once one has done something", () => {
  const acted = (kind: "agent" | "human", outcome: string): SessionsChange => ({
    kind: "event",
    event: {
      kind: "action",
      action: {
        ...{ seq: 1, at: "2026-01-01T00:00:09Z", session_id: "a", action: "click", detail: {}, duration_ms: 1 },
        by: { kind, subject: "x" },
        outcome,
      },
    },
  });
  const listed: SessionsChange = { kind: "listed", sessions: [session("a")] };
  const seen = (change: SessionsChange) => driverOf(after(listed, change).list![0]!);
  expect(seen(acted("human", "ok"))).toBe("No agent yet");
  expect(seen(acted("agent", "control_held"))).toBe("No agent yet");
  expect(seen(acted("agent", "ok"))).toBe("Agent drives");
});

it("finds sessions by all the words that are looked for", () => {
  const invoices = session("sess-1", { spec: { label: "Invoices of October" }, agent_status: "Reading" });
  expect(["", "invo", "october reading", "SESS-1", "admin"].map((words) => matches(invoices, words))).not.toContain(false);
  expect(matches(invoices, "invoices november")).toBe(false);
});

describe("words about a session", () => {
  it("names it by label, else by id", () => {
    expect(nameOf(session("a", { spec: { label: "invoices" } }))).toBe("invoices");
    expect(nameOf(session("a"))).toBe("a");
  });

  it("says who drives", () => {
    expect(driverOf(session("a", { control: control(0, { driver: "nobody" }) }))).toBe("No driver");
    expect(driverOf(session("a"))).toBe("No agent yet");
    expect(driverOf(session("a", { agent_acted_at: "2026-01-01T00:00:00Z" }))).toBe("Agent drives");
    expect(driverName(session("a", { agent_acted_at: "2026-01-01T00:00:00Z" }))).toBe("Agent");
    const human = { driver: "human", holder: "maria" } as const;
    expect(driverOf(session("a", { control: control(1, human) }))).toBe("maria drives by hand");
    expect(driverOf(session("a", { control: control(1, { ...human, yours: true }) }))).toBe("You drive");
  });

  it("says why it is over", () => {
    expect(endingOf(session("a", { end_reason: "idle" }))).toContain("too long");
    expect(endingOf(session("a"))).toBe("It was ended.");
    const attached = { display: ":0", live_view: true };
    expect(endingOf(session("a", { attached, end_reason: "guest_lost" }))).toContain("program that attached it is gone");
    expect(endingOf(session("a", { attached, end_reason: "requested" }))).toContain("on request");
  });

  it("never says that one runs which is gone", () => {
    expect(ended(session("a"), null)).toMatchObject({ status: "terminated" });
    const end = endOf({ end_reason: "out_of_memory", ended_at: "2026-01-01T00:00:00Z" });
    expect(ended(session("a"), end)).toMatchObject({ status: "error", end_reason: "out_of_memory" });
    expect(ended(session("a", { status: "terminated", end_reason: "idle" }), end).end_reason).toBe("idle");
    expect(endOf({ end_reason: "of a new kind" })).toBeNull();
  });

  it("explains why a picture is lost: by the server, by the attached program, or by the close reason", () => {
    const lost = { kind: "reconnecting", text: "The session's display was lost.", attempt: 0 } as const;
    const there = session("a", { attached: { display: ":0", live_view: true }, notes: ["attached: no limits"] });
    const attached = { ...there, notes: ["the program that attached it is not connected since 12:00"] };
    expect(lossOf(lost, session("a"), "live")).toBe(lost);
    expect(lossOf(lost, there, "live")).toBe(lost);
    expect(lossOf(lost, attached, "live")).toMatchObject({ text: expect.stringContaining("The program that attached it is not connected") });
    expect(lossOf(lost, attached, "lost")).toMatchObject({ text: expect.stringContaining("connection to the server") });
    expect(lossOf({ kind: "connected" }, attached, "lost")).toEqual({ kind: "connected" });
  });
});
