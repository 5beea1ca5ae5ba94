import type { Session } from "../api/wire";

/** When a session ends by itself, and why. */
export interface Deadline {
  at: number;
  why: "limit" | "idle";
}

/** The earlier of its time limit and its idle limit, if any. */
export function deadlineOf(session: Session): Deadline | null {
  const limit = session.expires_at ? Date.parse(session.expires_at) : Infinity;
  const idle = session.idle_ends_at ? Date.parse(session.idle_ends_at) : Infinity;
  if (idle < limit) return { at: idle, why: "idle" };
  return Number.isFinite(limit) ? { at: limit, why: "limit" } : null;
}

/** The same as it is shown: while a person drives, only the time limit. `idleWarning` still warns. */
export function shownDeadlineOf(session: Session): Deadline | null {
  const driven = session.control.driver === "human";
  return deadlineOf(driven ? { ...session, idle_ends_at: null } : session);
}

/** Warns a minute before; with a short idle limit, after half of it. */
function warningTime({ spec }: Session): number {
  return Math.min(60_000, ((spec.idle_timeout_s ?? 300) * 1000) / 2);
}

/** The time until an idle session ends, if that is soon; else null. */
export function idleWarning(session: Session, now: number): number | null {
  const deadline = deadlineOf(session);
  if (deadline?.why !== "idle") return null;
  const left = deadline.at - now;
  return left <= warningTime(session) ? Math.max(0, left) : null;
}
