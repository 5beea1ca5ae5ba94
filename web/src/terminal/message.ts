import { parseObject } from "../json";

/** Messages of the server about a terminal, besides its output. */
export type TerminalMessage =
  | { kind: "exit"; exitCode: number | null; signal: string | null }
  | { kind: "error"; code: string; message: string };

/** Parses a message; null for an unknown one, so that a newer server does not break the page. */
export function parseTerminalMessage(data: string): TerminalMessage | null {
  const body = parseObject(data);
  if (body === null) return null;
  const { exit_code, signal, error, message } = body;
  if (body.type === "exit") {
    return {
      kind: "exit",
      exitCode: typeof exit_code === "number" ? exit_code : null,
      signal: typeof signal === "string" ? signal : null,
    };
  }
  if (body.type === "error" && typeof error === "string" && typeof message === "string") {
    return { kind: "error", code: error, message };
  }
  return null;
}
