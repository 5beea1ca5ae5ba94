import { describe, expect, it } from "vitest";
import { parseTerminalMessage } from "../src/terminal/message";
import { changeTerminal, connecting, type TerminalState } from "../src/terminal/state";
import { terminalUrl } from "../src/viewer/address";
import { closingOf } from "../src/viewer/closing";

const connected: TerminalState = { kind: "connected", refusal: null };
const held = parseTerminalMessage('{"type":"error","error":"control_held","message":"ann drives by hand; wait"}');

describe("messages of a terminal", () => {
  it("tell how the shell ended", () => {
    expect(parseTerminalMessage('{"type":"exit","exit_code":3,"signal":null}')).toEqual({
      kind: "exit",
      exitCode: 3,
      signal: null,
    });
    expect(parseTerminalMessage('{"type":"exit","exit_code":null,"signal":"SIGKILL"}')).toEqual({
      kind: "exit",
      exitCode: null,
      signal: "SIGKILL",
    });
  });

  it("tell what was refused", () => {
    expect(held).toEqual({ kind: "error", code: "control_held", message: "ann drives by hand; wait" });
  });

  it("are ignored if this page does not know them", () => {
    for (const text of ["", "ls", "[]", '{"type":"title"}', '{"type":"error"}']) {
      expect(parseTerminalMessage(text)).toBeNull();
    }
  });
});

describe("the state of a terminal", () => {
  it("says how the shell ended, also after its connection was closed", () => {
    const exit = { kind: "exit", exitCode: 3, signal: null } as const;
    const ended = changeTerminal(connected, { kind: "told", message: exit });
    expect(ended).toEqual({ kind: "ended", text: "The shell has ended with exit code 3." });
    expect(changeTerminal(ended, { kind: "closed", closing: closingOf(1000, ""), holder: null })).toBe(ended);
    const killed = { kind: "exit", exitCode: null, signal: "SIGKILL" } as const;
    expect(changeTerminal(connected, { kind: "told", message: killed })).toEqual({
      kind: "ended",
      text: "The shell was ended by SIGKILL.",
    });
  });

  it("keeps a refusal until no other person has control", () => {
    if (held === null) throw new Error("the message was not read");
    const refused = changeTerminal(connected, { kind: "told", message: held });
    expect(refused).toEqual({ kind: "connected", refusal: "Ann drives by hand; wait." });
    expect(changeTerminal(refused, { kind: "free" })).toEqual(connected);
    expect(changeTerminal(connected, { kind: "free" })).toBe(connected);
  });

  it("tells a shell that was lost from one that was never started", () => {
    const closing = closingOf(1006, "");
    expect(changeTerminal(connected, { kind: "closed", closing, holder: "ann" }).kind).toBe("lost");
    expect(changeTerminal(connecting, { kind: "closed", closing, holder: "ann" }).kind).toBe("held");
    expect(changeTerminal(connecting, { kind: "closed", closing, holder: null }).kind).toBe("lost");
    expect(changeTerminal(connected, { kind: "closed", closing: closingOf(4013, ""), holder: null }).kind).toBe("lost");
  });

  it("is over with the session", () => {
    const closing = closingOf(4000, "session ended: deleted");
    expect(changeTerminal(connected, { kind: "closed", closing, holder: null }).kind).toBe("over");
  });
});

it("a terminal is opened with its size", () => {
  expect(terminalUrl("s 1", { cols: 120, rows: 40 }, new URL("https://host/deck/"))).toBe(
    "wss://host/deck/api/v1/sessions/s%201/terminal?cols=120&rows=40",
  );
});
