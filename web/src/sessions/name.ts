import type { IconName } from "../ui/Icon";
import type { Control, EndReason, Session } from "../api/wire";

/** What people call a session: its label, else its id. */
export function nameOf(session: Session): string {
  return session.spec.label || session.id;
}

const endings: Record<EndReason, string> = {
  requested: "It was ended on request.",
  wall_clock: "Its time limit was reached.",
  idle: "Nothing used it for too long.",
  max_tasks: "It has done all actions it was allowed.",
  server_stopped: "The server stopped.",
  start_failed: "It could not be started.",
  guest_lost: "What ran it stopped answering.",
  display_lost: "Its display was lost.",
  browser_lost: "Its browser was lost and could not be brought back.",
  out_of_memory: "It used more memory than it may.",
};

/** Of a session that somebody attached: what is lost with the program that did. */
export const programGone = "The program that attached it is gone.";

/** Why a session is over, in a sentence. One that the server forgot at once was ended by somebody. */
export function endingOf({ attached, end_reason: reason }: Session): string {
  // It has no sandbox; and a server that was restarted knows it only from its program.
  if (attached && (reason == null || reason === "guest_lost")) return programGone;
  return sentenceOf(reason) ?? "It was ended.";
}

/** The sentence for a reason; null for one that we do not know. */
export function sentenceOf(reason: unknown): string | null {
  return Object.hasOwn(endings, String(reason)) ? endings[reason as EndReason] : null;
}

/** What people call whoever has control by hand. */
export function holderOf({ holder, by }: Control): string {
  if (by?.kind === "link") return by.label ? `${by.label} (link)` : "A person with a link";
  return holder ?? "A person";
}

/** Who drives, in few words. */
export function driverOf(session: Session): string {
  const { driver, yours } = session.control;
  if (driver === "nobody") return "Nobody drives";
  // Control is the agent's from the start, but nobody drives until one does something.
  if (driver === "agent") return session.agent_acted_at ? "Agent drives" : "No agent yet";
  // A person may have an agent's name: "by hand" tells them apart.
  return yours ? "You drive" : `${holderOf(session.control)} drives by hand`;
}

export function driverIcon(session: Session): IconName {
  const driver = session.control.driver;
  return driver === "human" ? "person" : driver === "agent" ? "agent" : "pointer";
}
