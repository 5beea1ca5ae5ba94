import { sentence } from "../format";
import { sentenceOf } from "../sessions/name";

/** What the end of the picture's socket means. */
export type Closing =
  /** The connection was lost or the server restarts: reconnect automatically. */
  | { kind: "retry"; text: string }
  /** The session is over. */
  | { kind: "over"; text: string }
  /** Access was denied or withdrawn. */
  | { kind: "refused"; text: string };

/** Interprets a close code and its reason. */
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
