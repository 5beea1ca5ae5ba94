import type { ActionRecord, ClientConnection, Control, Job, Session } from "../api/wire";
import { changeOf, type VisionChange } from "../ask/run";
import { endOf, type End } from "../sessions/end";
import { parseObject } from "../json";

/** The events of the stream, one case per event name. */
export type LiveEvent =
  | { kind: "session"; session: Session }
  | { kind: "session_gone"; id: string; end: End | null }
  | { kind: "action"; action: ActionRecord }
  | { kind: "agent_status"; sessionId: string; status: string }
  | { kind: "idle"; sessionId: string; idleEndsAt: string | null }
  | { kind: "control"; sessionId: string; control: Control }
  | { kind: "job"; job: Job }
  | { kind: "vision"; change: VisionChange }
  | { kind: "mcp_client_connected"; connection: ClientConnection }
  | { kind: "reset" };

export const eventNames = [
  "session",
  "session_gone",
  "action",
  "agent_status",
  "control",
  "idle",
  "job",
  "vision",
  "mcp_client_connected",
  "reset",
] as const;

export type EventName = (typeof eventNames)[number];

/** Parses an event; null for an unknown one, so that a newer server does not break the page. */
export function parseEvent(name: EventName, data: string): LiveEvent | null {
  const body = parseObject(data);
  if (body === null) return null;
  switch (name) {
    case "session":
      return typeof body.id === "string" && typeof body.status === "string"
        ? { kind: "session", session: body as unknown as Session }
        : null;
    case "session_gone":
      return typeof body.id === "string" ? { kind: "session_gone", id: body.id, end: endOf(body) } : null;
    case "action":
      return typeof body.session_id === "string" && typeof body.seq === "number"
        ? { kind: "action", action: { detail: {}, ...body } as unknown as ActionRecord }
        : null;
    case "agent_status":
      return typeof body.session_id === "string" && typeof body.status === "string"
        ? { kind: "agent_status", sessionId: body.session_id, status: body.status }
        : null;
    case "idle":
      return typeof body.session_id === "string"
        ? {
            kind: "idle",
            sessionId: body.session_id,
            idleEndsAt: typeof body.idle_ends_at === "string" ? body.idle_ends_at : null,
          }
        : null;
    case "control": {
      const { session_id: sessionId, ...control } = body;
      return typeof sessionId === "string" && typeof control.driver === "string"
        ? { kind: "control", sessionId, control: control as unknown as Control }
        : null;
    }
    case "job":
      return isJob(body) ? { kind: "job", job: body } : null;
    case "vision": {
      const change = changeOf(body);
      return change && { kind: "vision", change };
    }
    case "mcp_client_connected":
      return ["token_id", "name", "version", "last_seen"].every((field) => typeof body[field] === "string")
        ? { kind: "mcp_client_connected", connection: body as unknown as ClientConnection }
        : null;
    case "reset":
      return { kind: "reset" };
  }
}

/** Whether this is a job, as far as the page relies on it. */
export function isJob(body: Record<string, unknown> | null): body is Job & Record<string, unknown> {
  return typeof body?.job_id === "string" && typeof body.state === "string" && typeof body.pack === "string";
}
