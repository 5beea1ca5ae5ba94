import type { EndReason, Session } from "../api/wire";
import { sentenceOf } from "./name";
import { isOver } from "./state";

/** How a session ended, for one that is already gone. */
export interface End {
  end_reason: EndReason;
  ended_at: string | null;
}

/** Reads it from an event or a response; null if it is missing. */
export function endOf({ end_reason, ended_at }: Record<string, unknown>): End | null {
  if (sentenceOf(end_reason) === null) return null;
  return { end_reason: end_reason as EndReason, ended_at: typeof ended_at === "string" ? ended_at : null };
}

const failures: readonly EndReason[] = ["start_failed", "guest_lost", "display_lost", "browser_lost", "out_of_memory"];

/** A session that is gone, in its last state, marked as over with the reason if known. */
export function ended(last: Session, end: End | null): Session {
  if (isOver(last)) return last;
  const failed = end !== null && failures.includes(end.end_reason);
  return { ...last, status: failed ? "error" : "terminated", ...end };
}
