import type { LiveEvent } from "../events/event";
import type { StreamState } from "../events/source";
import type { Session } from "../api/wire";

/** All sessions the person may see, kept current by events. */
export interface Sessions {
  /** In order of creation; null until loaded. */
  list: Session[] | null;
  stream: StreamState;
  /** Why the last list could not be loaded. */
  error: string | null;
  /** Ended sessions that the person dismissed. */
  dismissed: ReadonlySet<string>;
}

export type SessionsChange =
  | { kind: "listed"; sessions: Session[] }
  | { kind: "failed"; error: string }
  | { kind: "stream"; state: StreamState }
  | { kind: "event"; event: LiveEvent }
  | { kind: "created"; session: Session }
  | { kind: "dismiss"; id: string };

export const noSessions: Sessions = {
  list: null,
  stream: "connecting",
  error: null,
  dismissed: new Set(),
};

export function changeSessions(state: Sessions, change: SessionsChange): Sessions {
  switch (change.kind) {
    case "listed":
      return { ...state, list: inOrder(change.sessions), error: null };
    case "failed":
      return { ...state, error: change.error };
    case "stream":
      return { ...state, stream: change.state };
    case "created":
      // Its first event may have arrived before the response, and is newer.
      return state.list?.some((session) => session.id === change.session.id)
        ? state
        : { ...state, list: inOrder([...(state.list ?? []), change.session]) };
    case "dismiss":
      return { ...state, dismissed: new Set(state.dismissed).add(change.id) };
    case "event":
      return { ...state, list: applyEvent(state.list ?? [], change.event) };
  }
}

function applyEvent(list: Session[], event: LiveEvent): Session[] {
  switch (event.kind) {
    case "session":
      return list.some((session) => session.id === event.session.id)
        ? edit(list, event.session.id, () => event.session)
        : inOrder([...list, event.session]);
    case "session_gone":
      return list.filter((session) => session.id !== event.id);
    case "agent_status":
      return edit(list, event.sessionId, (old) => ({ ...old, agent_status: event.status }));
    case "control":
      return edit(list, event.sessionId, (old) =>
        // Control is reported by the session and by separate events: the later change wins.
        old.control.epoch > event.control.epoch
          ? old
          : { ...old, control: event.control },
      );
    case "idle":
      return edit(list, event.sessionId, (old) => ({ ...old, idle_ends_at: event.idleEndsAt }));
    case "action": {
      const { session_id, by, outcome, at } = event.action;
      const acted = by.kind === "agent" && outcome === "ok";
      return acted ? edit(list, session_id, (old) => ({ ...old, agent_acted_at: at })) : list;
    }
    case "job":
    case "vision":
    case "mcp_client_connected":
    case "reset":
      return list;
  }
}

function edit(list: Session[], id: string, change: (old: Session) => Session): Session[] {
  return list.map((session) => (session.id === id ? change(session) : session));
}

function inOrder(list: Session[]): Session[] {
  return list.toSorted((a, b) => a.created_at.localeCompare(b.created_at));
}

export function isOver(session: Session): boolean {
  return session.status === "terminated" || session.status === "error";
}

/** Whether a session matches a search: words in its label, id, owner, status or start page. */
export function matches(session: Session, wanted: string): boolean {
  const { label, start_url, profile } = session.spec;
  const facts = [label, session.id, session.owner, session.agent_status, start_url, profile];
  const text = facts.filter(Boolean).join(" ").toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The sessions of the wall: running ones first, newest first. */
export function forWall(state: Sessions): Session[] {
  const shown = (state.list ?? []).filter((session) => !state.dismissed.has(session.id)).reverse();
  return [...shown.filter((session) => !isOver(session)), ...shown.filter(isOver)];
}
