import { describe, expect, it } from "vitest";
import { composes, keyDown, keyUp, modifiersOf, pasteText, typeText } from "../src/cast/keys";
import { parseMessage, type Frame } from "../src/cast/message";
import { fitted, pagePoint } from "../src/cast/place";
import { bitOf, buttonOf, Clicks, wheelOf } from "../src/cast/pointer";
import { blockedBecause, changeCast, nothingCast, sceneOf, type CastState } from "../src/cast/state";
import { castUrl } from "../src/viewer/address";
import { castQuality } from "../src/viewer/quality";

const frame: Frame = { tab: "A", width: 1280, height: 800, offsetTop: 0, seq: 7 };
const free = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, altGraph: false };
const key = (name: string, code: string, keyCode: number, more = {}) => ({
  ...free,
  key: name,
  code,
  keyCode,
  location: 0,
  repeat: false,
  ...more,
});

describe("messages of the stream", () => {
  it("are read one by one", () => {
    const told = { ...frame, page_scale: 1, offset_top: 12, scroll_x: 0, scroll_y: 0 };
    expect(parseMessage(JSON.stringify({ frame: told }))).toEqual({ kind: "frame", frame: { ...frame, offsetTop: 12 } });
    const tab = { id: "A", url: "about:blank", title: "", active: true };
    expect(parseMessage(JSON.stringify({ tabs: [tab, { id: 1 }] }))).toEqual({ kind: "tabs", tabs: [tab] });
    expect(parseMessage('{"status":{"status":"no_browser","reason":"it ended"}}')).toEqual({
      kind: "status",
      status: "no_browser",
      reason: "it ended",
    });
    expect(parseMessage('{"control":{"may_drive":true}}')).toEqual({ kind: "control", mayDrive: true });
    expect(parseMessage('{"dialog":null}')).toEqual({ kind: "dialog", dialog: null });
    expect(parseMessage('{"dialog":{"kind":"prompt","message":"How many?","proposal":"1"}}')).toMatchObject({
      dialog: { kind: "prompt", proposal: "1" },
    });
    expect(parseMessage('{"error":{"message":"unknown field"}}')).toEqual({ kind: "error", message: "unknown field" });
  });

  it("that make no sense are none", () => {
    const bad = ['{"frame":{"tab":"A","width":0,"height":1,"seq":1}}', '{"status":{"status":"new"}}', "[]", "x", "{}"];
    for (const text of bad) expect(parseMessage(text), text).toBeNull();
  });
});

describe("what stands over the picture", () => {
  const told = (state: CastState, text: string) => {
    const message = parseMessage(text);
    if (message === null) throw new Error(text);
    return changeCast(state, { kind: "told", message });
  };

  it("follows the browser: starting, a picture, lost, back", () => {
    let state = changeCast(nothingCast, { kind: "opened" });
    expect(sceneOf(state)).toMatchObject({ kind: "wait" });
    state = told(state, '{"status":{"status":"streaming","reason":null}}');
    expect(sceneOf(state)).toEqual({ kind: "wait", text: "Waiting for the first picture…" });
    state = changeCast(state, { kind: "painted" });
    expect(sceneOf(state)).toEqual({ kind: "picture" });
    state = told(state, '{"dialog":{"kind":"alert","message":"hm"}}');
    state = told(state, '{"status":{"status":"no_browser","reason":"it was killed"}}');
    expect(sceneOf(state)).toMatchObject({ kind: "notice", reason: "it was killed" });
    expect(state.dialog).toBeNull();
    state = told(state, '{"status":{"status":"streaming","reason":null}}');
    expect(sceneOf(state)).toMatchObject({ kind: "wait" });
  });

  it("tells a browser without tabs from a tab that is not there", () => {
    const state: CastState = { ...nothingCast, status: "ready", reason: "there is no tab" };
    expect(sceneOf(state)).toMatchObject({ kind: "notice", title: "The browser has no tab" });
    const tabs = [{ id: "1", url: "about:blank", title: "", active: true }];
    expect(sceneOf({ ...state, tabs })).toMatchObject({ kind: "notice", title: "There is no such tab" });
  });

  it("does not promise to restart an attached browser", () => {
    const gone = { ...nothingCast, status: "no_browser", reason: "it is being started again" } as const;
    const scene = sceneOf(gone, { status: "no_browser", reason: "it is looked for until it is back" });
    expect(scene).toMatchObject({ kind: "notice", reason: "it is looked for until it is back" });
    expect(scene).not.toMatchObject({ text: expect.stringContaining("by itself") });
  });

  it("has words for every status", () => {
    for (const status of ["unspecified", "starting", "ready", "no_browser", "passthrough", "unavailable"] as const) {
      expect(sceneOf({ ...nothingCast, status }), status).not.toEqual({ kind: "picture" });
    }
  });

  it("forgets with the connection who drives, and keeps tabs and picture", () => {
    const state = { ...nothingCast, frame, mayDrive: true, painted: true };
    expect(changeCast(state, { kind: "closed" })).toMatchObject({ frame, mayDrive: false, painted: false });
  });

  it("says why there is nothing to look at", () => {
    expect(blockedBecause("unavailable", "it is of another version")).toBe("It is of another version.");
    expect(blockedBecause(undefined, null)).toBeDefined();
    expect(blockedBecause("no_browser", "it ended")).toBeUndefined();
  });
});

describe("places", () => {
  const box = { left: 100, top: 50, width: 1000, height: 800 };
  const shown = fitted(box, { width: 640, height: 400 });

  it("are those of the page, however the picture is scaled", () => {
    expect(shown).toEqual({ left: 100, top: 137.5, width: 1000, height: 625 });
    expect(pagePoint({ x: 600, y: 450 }, shown, frame, false)).toEqual({ x: 640, y: 400 });
    expect(pagePoint({ x: 600, y: 450 }, shown, { ...frame, offsetTop: 40 }, false)).toEqual({ x: 640, y: 360 });
  });

  it("beside the picture are none, except while dragging", () => {
    expect(pagePoint({ x: 600, y: 100 }, shown, frame, false)).toBeNull();
    expect(pagePoint({ x: 5000, y: 100 }, shown, frame, true)).toEqual({ x: 1279, y: 0 });
    expect(pagePoint({ x: 1, y: 1 }, fitted(box, { width: 0, height: 0 }), frame, true)).toBeNull();
  });
});

describe("mouse", () => {
  it("counts clicks that belong together", () => {
    const clicks = new Clicks();
    const at = { x: 10, y: 10 };
    expect([0, 200, 400, 600].map((when) => clicks.next(at, "left", when))).toEqual([1, 2, 3, 1]);
    expect(clicks.next({ x: 90, y: 10 }, "left", 700)).toBe(1);
    expect(clicks.next({ x: 90, y: 10 }, "right", 750)).toBe(1);
    expect(clicks.next({ x: 90, y: 10 }, "right", 1500)).toBe(1);
  });

  it("names buttons, and counts the wheel in pixels", () => {
    expect([0, 1, 2, 9].map(buttonOf)).toEqual(["left", "middle", "right", "none"]);
    expect(bitOf("right")).toBe(2);
    expect(wheelOf({ deltaX: 0, deltaY: 3, deltaMode: 0 }, 800)).toEqual({ x: 0, y: 3 });
    expect(wheelOf({ deltaX: 0, deltaY: 3, deltaMode: 1 }, 800)).toEqual({ x: 0, y: 120 });
    expect(wheelOf({ deltaX: 0, deltaY: 1e9, deltaMode: 2 }, 800)).toEqual({ x: 0, y: 10_000 });
  });
});

describe("keys", () => {
  it("type what they are labelled with", () => {
    expect(keyDown(key("a", "KeyA", 65), false)).toEqual({
      type: "keyDown",
      modifiers: 0,
      key: "a",
      code: "KeyA",
      windowsVirtualKeyCode: 65,
      text: "a",
    });
    expect(keyDown(key("A", "KeyA", 65, { shiftKey: true, repeat: true }), false)).toMatchObject({
      modifiers: 8,
      text: "A",
      autoRepeat: true,
    });
    expect(keyDown(key("Enter", "NumpadEnter", 13, { location: 3 }), false)).toMatchObject({ text: "\r", location: 3 });
    expect(keyDown(key("ArrowLeft", "ArrowLeft", 37), false)).toMatchObject({ type: "rawKeyDown" });
  });

  it("are shortcuts with Ctrl or Alt, and characters with AltGr or Option", () => {
    expect(keyDown(key("a", "KeyA", 65, { ctrlKey: true }), false)).toMatchObject({ type: "rawKeyDown", modifiers: 2 });
    expect(keyDown(key("f", "KeyF", 70, { altKey: true }), false)).toMatchObject({ type: "rawKeyDown", modifiers: 1 });
    const altGr = { ctrlKey: true, altKey: true, altGraph: true };
    expect(keyDown(key("€", "KeyE", 69, altGr), false)).toMatchObject({ text: "€", modifiers: 0 });
    expect(keyDown(key("å", "KeyA", 65, { altKey: true }), true)).toMatchObject({ text: "å", modifiers: 0 });
  });

  it("of a Mac mean Ctrl by Command", () => {
    expect(modifiersOf({ ...free, metaKey: true }, true)).toBe(2);
    expect(modifiersOf({ ...free, metaKey: true }, false)).toBe(4);
    const down = keyDown(key("Meta", "MetaLeft", 91, { metaKey: true, location: 1 }), true);
    expect(down).toMatchObject({ key: "Control", code: "ControlLeft", windowsVirtualKeyCode: 17 });
    expect(keyUp(down)).toMatchObject({ type: "keyUp", key: "Control", location: 1 });
  });

  it("that compose are left to the input method", () => {
    expect(composes({ key: "Dead", keyCode: 192, isComposing: false })).toBe(true);
    expect(composes({ key: "a", keyCode: 229, isComposing: false })).toBe(true);
    expect(composes({ key: "a", keyCode: 65, isComposing: false })).toBe(false);
  });

  it("type any text: emoji as one, lines by Enter", () => {
    const typed = typeText("é👩‍🚀\r\nb");
    expect(typed.map(({ text }) => text)).toEqual(["é", "👩‍🚀", "\r", undefined, "b"]);
    expect(typed[0]).toEqual({ type: "char", modifiers: 0, text: "é" });
    expect(typed[3]).toMatchObject({ type: "keyUp", key: "Enter" });
  });

  it("are not pressed by what is pasted, whatever its length", () => {
    expect(pasteText("a\r\nb")).toEqual([{ type: "char", modifiers: 0, text: "a\nb" }]);
    const pieces = pasteText("🎉".repeat(130)).map(({ text }) => text);
    expect(pieces.map((piece) => [...(piece ?? "")].length)).toEqual([64, 64, 2]);
    expect(pasteText("")).toEqual([]);
  });
});

it("asks for more the better the picture shall be", () => {
  const [low, balanced, sharp] = (["low", "balanced", "sharp"] as const).map((quality) => castQuality(quality, 1));
  expect(balanced).toEqual({ quality: 70, max_width: 1280, max_height: 800, max_fps: 15 });
  expect(low?.max_fps).toBeLessThan(15);
  expect(sharp?.quality).toBeGreaterThan(70);
  expect(castQuality("balanced", 2).max_width).toBeGreaterThan(1280);
  expect(castQuality("balanced", 2, { max_fps: 5 })).toEqual({ ...balanced, max_fps: 5 });
  expect(castUrl("s 1", "control", new URL("https://host/deck/"))).toBe(
    "wss://host/deck/api/v1/sessions/s%201/cdp-stream?role=control&ack=true",
  );
});
