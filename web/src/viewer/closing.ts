import { sentence } from "../format";
import { sentenceOf } from "../sessions/name";

/** What the closing of the picture's socket means for whoever watches. */
export type Closing =
  /** The connection broke or the server restarts: come back by itself. */
  | { kind: "retry"; text: string }
  /** The session is over; there is nothing to come back to. */
  | { kind: "over"; text: string }
  /** The right to watch was withdrawn or never there. */
  | { kind: "refused"; text: string };

/** Reads a close code of the contract, and the reason that came with it. */
export function closingOf(code: number, reason: string): Closing {
  const why = sentenceOf(reason.replace(/^session ended: /, "")) ?? sentence(reason);
  const because = (text: string) => (why ? `${text} ${why}` : text);
  switch (code) {
    case 4000:
      return { kind: "over", text: because("The session is over.") };
    case 4001:
      return { kind: "refused", text: because("Your access was withdrawn or has expired.") };
    case 4003:
      return { kind: "refused", text: because("You may not watch this session.") };
    case 4010:
      return { kind: "retry", text: because("The session's display was lost.") };
    case 4011:
      return { kind: "retry", text: "The server is restarting." };
    case 4013:
      return { kind: "retry", text: "The session's terminal was lost." };
    default:
      return { kind: "retry", text: "The connection was lost." };
  }
}
