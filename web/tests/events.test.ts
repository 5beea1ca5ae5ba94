import { describe, expect, it } from "vitest";
import { parseEvent } from "../src/events/event";

describe("parseEvent", () => {
  it("reads every event of the stream", () => {
    expect(parseEvent("session", '{"id":"s","status":"running"}')).toMatchObject({ kind: "session" });
    expect(parseEvent("session_gone", '{"id":"s"}')).toEqual({ kind: "session_gone", id: "s", end: null });
    expect(parseEvent("session_gone", '{"id":"s","end_reason":"idle","ended_at":"2026-01-01T00:00:00Z"}')).toEqual({
      kind: "session_gone",
      id: "s",
      end: { end_reason: "idle", ended_at: "2026-01-01T00:00:00Z" },
    });
    expect(parseEvent("agent_status", '{"session_id":"s","status":"busy"}')).toEqual({
      kind: "agent_status",
      sessionId: "s",
      status: "busy",
    });
    expect(parseEvent("control", '{"session_id":"s","driver":"agent","epoch":2}')).toEqual({
      kind: "control",
      sessionId: "s",
      control: { driver: "agent", epoch: 2 },
    });
    const connected = '{"token_id":"t","label":"laptop","name":"codex","version":"1.2","last_seen":"2026-01-01T00:00:00Z"}';
    expect(parseEvent("mcp_client_connected", connected)).toEqual({
      kind: "mcp_client_connected",
      connection: JSON.parse(connected),
    });
    expect(parseEvent("reset", "{}")).toEqual({ kind: "reset" });
  });

  it("gives an action without detail an empty one", () => {
    expect(parseEvent("action", '{"session_id":"s","seq":1}')).toMatchObject({ action: { detail: {} } });
  });

  it("passes over what makes no sense", () => {
    for (const data of ["", "nonsense", "[]", "null", "{}"]) {
      expect(parseEvent("session", data)).toBeNull();
      expect(parseEvent("action", data)).toBeNull();
      expect(parseEvent("mcp_client_connected", data)).toBeNull();
    }
  });
});
