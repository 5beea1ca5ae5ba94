import type { Session } from "../api/wire";

/** When a session ends by itself, and why. */
export interface Deadline {
  at: number;
  why: "limit" | "idle";
}

/** The first of its two ends, if it has one: the time limit, or the idle limit. */
export function deadlineOf(session: Session): Deadline | null {
  const limit = session.expires_at ? Date.parse(session.expires_at) : Infinity;
  const idle = session.idle_ends_at ? Date.parse(session.idle_ends_at) : Infinity;
  if (idle < limit) return { at: idle, why: "idle" };
  return Number.isFinite(limit) ? { at: limit, why: "limit" } : null;
}

/** People are warned a minute before; with a short idle limit, when half of it has passed. */
function warningTime({ spec }: Session): number {
  return Math.min(60_000, ((spec.idle_timeout_s ?? 300) * 1000) / 2);
}

/** How long until it ends because nothing uses it, if that is soon; else null. */
export function idleWarning(session: Session, now: number): number | null {
  const deadline = deadlineOf(session);
  if (deadline?.why !== "idle") return null;
  const left = deadline.at - now;
  return left <= warningTime(session) ? Math.max(0, left) : null;
}
