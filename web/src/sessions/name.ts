import type { IconName } from "../ui/Icon";
import type { Control, EndReason, Session } from "../api/wire";

/** The display name of a session: its label, else its id. */
export function nameOf(session: Session): string {
  return session.spec.label || session.id;
}

const endings: Record<EndReason, string> = {
  requested: "It was ended on request.",
  wall_clock: "Its time limit was reached.",
  idle: "Nothing used it for too long.",
  max_tasks: "It reached its limit of actions.",
  server_stopped: "The server stopped.",
  start_failed: "It could not be started.",
  guest_lost: "Its sandbox stopped answering.",
  display_lost: "Its display was lost.",
  browser_lost: "Its browser was lost and could not be restarted.",
  out_of_memory: "It ran out of memory.",
};

/** The end of an attached session whose program disconnected. */
export const programGone = "The program that attached it is gone.";

/** Why a session is over, in a sentence. If the server forgot it at once, it was ended on request. */
export function endingOf({ attached, end_reason: reason }: Session): string {
  // It has no sandbox, and a restarted server knows it only from its program.
  if (attached && (reason == null || reason === "guest_lost")) return programGone;
  return sentenceOf(reason) ?? "It was ended.";
}

/** The sentence for a reason; null for an unknown one. */
export function sentenceOf(reason: unknown): string | null {
  return Object.hasOwn(endings, String(reason)) ? endings[reason as EndReason] : null;
}

/** The display name of the person in control. */
export function holderOf({ holder, by }: Control): string {
  if (by?.kind === "link") return by.label ? `${by.label} (link)` : "A person with a link";
  return holder ?? "A person";
}

/** A short text that shows who has control. */
export function driverOf(session: Session): string {
  const { driver, yours } = session.control;
  if (driver === "nobody") return "No driver";
  // The agent has control from the start, but does not count as driving until it acts.
  if (driver === "agent") return session.agent_acted_at ? "Agent drives" : "No agent yet";
  // A person may have an agent's name; "by hand" distinguishes them.
  return yours ? "You drive" : `${holderOf(session.control)} drives by hand`;
}

/** How it is used: by names of elements, or by pictures. */
export function modeOf({ action_mode }: Session): string {
  return action_mode === "vision" ? "Vision" : "Structured";
}

/** The same as a name, for a field that is called driver. */
export function driverName(session: Session): string {
  const { driver, yours } = session.control;
  if (driver === "human") return yours ? "You" : holderOf(session.control);
  return driver === "agent" && session.agent_acted_at ? "Agent" : driverOf(session);
}

export function driverIcon(session: Session): IconName {
  const driver = session.control.driver;
  return driver === "human" ? "person" : driver === "agent" ? "agent" : "pointer";
}
