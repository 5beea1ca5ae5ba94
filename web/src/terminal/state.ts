import { sentence } from "../format";
import type { Closing } from "../viewer/closing";
import type { TerminalMessage } from "./message";

/** The state of a terminal and its shell. */
export type TerminalState =
  | { kind: "connecting" }
  /** With the server's message about refused input. */
  | { kind: "connected"; refusal: string | null }
  | { kind: "ended"; text: string }
  /** No shell was started, because another person has control. */
  | { kind: "held"; text: string }
  | { kind: "lost"; text: string }
  /** The session is over. */
  | { kind: "over"; text: string };

export type TerminalChange =
  | { kind: "start" }
  | { kind: "opened" }
  | { kind: "told"; message: TerminalMessage }
  /** The connection ended; `holder` is another person in control. */
  | { kind: "closed"; closing: Closing; holder: string | null }
  /** No other person has control any more. */
  | { kind: "free" };

export const connecting: TerminalState = { kind: "connecting" };

export function changeTerminal(state: TerminalState, change: TerminalChange): TerminalState {
  switch (change.kind) {
    case "start":
      return connecting;
    case "opened":
      return { kind: "connected", refusal: null };
    case "told":
      return hear(state, change.message);
    case "closed":
      return close(state, change.closing, change.holder);
    case "free":
      return state.kind === "connected" && state.refusal !== null ? { ...state, refusal: null } : state;
  }
}

function hear(state: TerminalState, message: TerminalMessage): TerminalState {
  if (message.kind === "exit") return { kind: "ended", text: endOf(message.exitCode, message.signal) };
  return state.kind === "connected" ? { ...state, refusal: sentence(message.message) } : state;
}

function close(state: TerminalState, closing: Closing, holder: string | null): TerminalState {
  // The connection of an ended shell is closed: nothing new.
  if (state.kind === "ended") return state;
  if (closing.kind !== "retry") return { kind: "over", text: closing.text };
  if (state.kind === "connected") return { kind: "lost", text: `${closing.text} The shell ended with it.` };
  if (holder !== null) {
    return { kind: "held", text: `${holder} is driving by hand. A shell starts here when they release control, or when you take it.` };
  }
  return { kind: "lost", text: "The terminal could not be opened." };
}

function endOf(exitCode: number | null, signal: string | null): string {
  if (signal !== null) return `The shell was ended by ${signal}.`;
  return exitCode === null ? "The shell has ended." : `The shell has ended with exit code ${exitCode}.`;
}
