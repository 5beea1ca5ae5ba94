import { describe, expect, it } from "vitest";
import type { ActionRecord } from "../src/api/wire";
import { isWayOut } from "../src/viewer/chord";
import { closingOf } from "../src/viewer/closing";
import { keysOf, keysym, keysymOf } from "../src/viewer/keysym";
import { markOf, project, projection } from "../src/viewer/marks";
import { closingOfAnswer } from "../src/viewer/probe";
import { editBetween } from "../src/viewer/typed";
import { changeViewer, type ViewerState } from "../src/viewer/state";

function action(name: string, detail: ActionRecord["detail"], outcome = "ok"): ActionRecord {
  const by = { kind: "agent", subject: "a" } as const;
  return { seq: 1, at: "", session_id: "s", by, action: name, detail, outcome, duration_ms: 1 };
}

describe("close codes", () => {
  it("say whether to come back", () => {
    expect(closingOf(4000, "idle limit")).toEqual({ kind: "over", text: "The session is over. Idle limit." });
    expect(closingOf(4000, "session ended: guest_lost").text).toBe(
      "The session is over. Its sandbox stopped answering.",
    );
    expect(closingOf(4001, "").kind).toBe("refused");
    expect(closingOf(4003, "").kind).toBe("refused");
    expect(closingOf(4010, "").kind).toBe("retry");
    expect(closingOf(4011, "").kind).toBe("retry");
    expect(closingOf(1006, "").kind).toBe("retry");
  });

  it("have counterparts among the answers to a plain request", () => {
    expect(closingOfAnswer(401, "missing_bearer")?.kind).toBe("refused");
    expect(closingOfAnswer(401, "invalid_ticket")?.text).toContain("link is not valid");
    expect(closingOfAnswer(409, "ticket_in_use")?.kind).toBe("retry");
    expect(closingOfAnswer(503, "cdp_unavailable")?.kind).toBe("retry");
    expect(closingOfAnswer(404, "not_found")?.kind).toBe("over");
    expect(closingOfAnswer(410, "session_ended", "idle")?.text).toBe("The session is over. Nothing used it for too long.");
    expect(closingOfAnswer(426, undefined)).toBeNull();
  });
});

it("counts tries until it is connected again", () => {
  const lost = { kind: "closed", closing: closingOf(1006, "") } as const;
  let state: ViewerState = { kind: "connected" };
  state = changeViewer(state, lost);
  state = changeViewer(state, { kind: "start" });
  state = changeViewer(state, lost);
  expect(state).toMatchObject({ kind: "reconnecting", attempt: 1 });
  state = changeViewer(state, { kind: "connected" });
  expect(changeViewer(state, lost)).toMatchObject({ attempt: 0 });
  expect(changeViewer(state, { kind: "closed", closing: closingOf(4000, "") }).kind).toBe("over");
});

it("knows the way out, and no other chord", () => {
  const held = { ctrlKey: true, altKey: true, shiftKey: true };
  expect(isWayOut({ key: "Shift", ...held })).toBe(true);
  expect(isWayOut({ key: "Control", ...held })).toBe(true);
  expect(isWayOut({ key: "Delete", ...held })).toBe(false);
  expect(isWayOut({ key: "Alt", ...held, shiftKey: false })).toBe(false);
});

describe("keys", () => {
  it("type any character", () => {
    expect(keysymOf("a")).toBe(0x61);
    expect(keysymOf("é")).toBe(0xe9);
    expect(keysymOf("漢")).toBe(0x01006f22);
    expect(keysymOf("\n")).toBe(keysym.Return);
  });

  it("turn one text into another", () => {
    expect(editBetween("  he", "  hello")).toEqual({ erase: 0, text: "llo" });
    expect(editBetween("a🎉", "a")).toEqual({ erase: 1, text: "" });
    expect(keysOf(editBetween("teh", "the"))).toEqual([keysym.BackSpace, keysym.BackSpace, keysymOf("h"), keysymOf("e")]);
  });
});

describe("marks", () => {
  it("show where an action was", () => {
    expect(markOf(action("double_click", { x: 1, y: 2 }))).toMatchObject({ kind: "ripple", rings: 2 });
    expect(markOf(action("click", { x: 1, y: 2, button: "right" }))).toMatchObject({ secondary: true });
    expect(markOf(action("scroll", { x: 1, y: 2, direction: "up" }))).toMatchObject({ direction: "up" });
    const path = [
      { x: 1, y: 2 },
      { x: 3, y: 4 },
    ];
    expect(markOf(action("drag", { path }))).toEqual({ kind: "trail", path });
  });

  it("are not made for what has no place or did not happen", () => {
    expect(markOf(action("type", { characters: 3 }))).toBeNull();
    expect(markOf(action("scroll", { direction: "up" }))).toBeNull();
    expect(markOf(action("drag", {}))).toBeNull();
    expect(markOf(action("click", { x: 1, y: 2 }, "control_held"))).toBeNull();
  });

  it("land on the scaled and moved picture", () => {
    const picture = { left: 110, top: 70, width: 640, height: 400 };
    const view = projection(picture, 1280, { left: 100, top: 50, width: 800, height: 500 });
    expect(project({ x: 199.5, y: 99.5 }, view)).toEqual({ x: 110, y: 70 });
  });
});
