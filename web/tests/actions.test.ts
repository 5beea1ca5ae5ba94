import { expect, it } from "vitest";
import type { ActionRecord } from "../src/api/wire";
import { actorOf, linesOf, outcomeOf, whatOf, whereOf } from "../src/session/action";
import { merge } from "../src/session/actions";
import { readSpec } from "../src/wall/spec";

function action(name: string, detail: ActionRecord["detail"] = {}, seq = 1): ActionRecord {
  const by = { kind: "agent", subject: "a" } as const;
  return { seq, at: "", session_id: "s", by, action: name, detail, outcome: "ok", duration_ms: 1 };
}

it("says what was done", () => {
  expect(whatOf(action("click", { x: 1, y: 2 }))).toBe("Click");
  expect(whatOf(action("click", { button: "right" }))).toBe("Right click");
  expect(whatOf(action("scroll", { direction: "down", amount: 3 }))).toBe("Scroll down 3");
  expect(whatOf(action("type", { characters: 1 }))).toBe("Type 1 character");
  expect(whatOf(action("key", { keys: "ctrl+l" }))).toBe("Press ctrl+l");
  expect(whatOf(action("file_upload", { path: "Desktop/a.txt", size: 3 }))).toBe("Upload Desktop/a.txt");
  expect(whatOf(action("file_download", { path: "a.txt" }))).toBe("Download a.txt");
  expect(whatOf(action("some_new_thing"))).toBe("Some new thing");
  expect(whatOf(action("agent_status", { status: "Reading" }))).toBe("“Reading”");
  expect(whatOf(action("release_control", { message: "go on" }))).toBe("Hand back: “go on”");
});

it("says whether an agent, a person or the holder of a link did it, and by which name", () => {
  const by = (kind: string, more = {}) => actorOf({ ...action("click"), by: { kind, subject: "ann", ...more } as never });
  expect(by("agent")).toEqual({ kind: "Agent", name: "ann" });
  expect(by("agent", { label: "invoice bot" })).toEqual({ kind: "Agent", name: "invoice bot (ann)" });
  expect(by("human", { label: "ui" })).toEqual({ kind: "Person", name: "ann" });
  expect(by("link")).toEqual({ kind: "Link", name: "ann" });
});

it("says where the browser went, and which element was used", () => {
  expect(whatOf(action("browser_navigate", { url: "https://a.example/", history: null }))).toBe("Go to https://a.example/");
  expect(whatOf(action("browser_navigate", { url: null, history: "reload" }))).toBe("Reload");
  expect(whatOf(action("browser_tabs", { action: "list" }))).toBe("List tabs");
  expect(whatOf(action("browser_tabs", { action: "open", url: null }))).toBe("Open a tab");
  expect(whatOf(action("browser_tabs", { action: "activate", tab: "A" }))).toBe("Switch to another tab");
  expect(whatOf(action("browser_click", { selector: "text=Buy" }))).toBe("Click text=Buy");
  expect(whatOf(action("browser_type", { selector: "#name", characters: 3 }))).toBe("Type 3 characters into #name");
  expect(whatOf(action("browser_press", { selector: null, keys: "Enter" }))).toBe("Press Enter");
  expect(whatOf(action("browser_wait_for", { network_idle: true }))).toBe("Browser wait for");
  expect(whatOf(action("browser_interact", { selector: "#a", action: "focus" }))).toBe("Focus #a");
});

it("folds what is asked again and again into one line, but no two clicks", () => {
  const click = { x: 1, y: 2 };
  const all = ["windows", "windows", "windows", "click", "click", "windows"].map((name, seq) =>
    action(name, name === "click" ? click : {}, seq),
  );
  const lines = linesOf(all).map(({ action, times }) => [action.action, action.seq, times]);
  expect(lines).toEqual([["windows", 2, 3], ["click", 3, 1], ["click", 4, 1], ["windows", 5, 1]]);
  const refused: ActionRecord = { ...action("windows"), outcome: "timeout" };
  expect(linesOf([action("windows"), refused])).toHaveLength(2);
});

it("does not fold what agents with different labels did", () => {
  const of = (label?: string): ActionRecord => {
    const one = action("windows");
    return label === undefined ? one : { ...one, by: { ...one.by, label } };
  };
  const lines = linesOf([of("invoices"), of("invoices"), of("mail"), of()]);
  expect(lines.map(({ action: { by }, times }) => [by.label, times])).toEqual([["invoices", 2], ["mail", 1], [undefined, 1]]);
});

it("says where, or how much", () => {
  expect(whereOf(action("file_upload", { path: "a.txt", size: 1536 }))).toBe("1.5 KiB");
  expect(whereOf(action("file_upload", { path: "a.txt" }))).toBe("");
  expect(whereOf(action("click", { x: 0, y: 2 }))).toBe("0, 2");
  expect(whereOf(action("type", { characters: 4 }))).toBe("");
  const path = [
    { x: 1, y: 2 },
    { x: 5, y: 6 },
    { x: 3, y: 4 },
  ];
  expect(whereOf(action("drag", { path }))).toBe("1, 2 → 3, 4");
});

it("keeps each action once, in order, whatever the order they come in", () => {
  const [one, two, three] = [1, 2, 3].map((seq) => action("click", {}, seq)) as [
    ActionRecord,
    ActionRecord,
    ActionRecord,
  ];
  expect(merge([], [one])).toEqual([one]);
  expect(merge([one, two], [three])).toEqual([one, two, three]);
  expect(merge([two, three], [one, two])).toEqual([one, two, three]);
});

it("makes a request of the form", () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ mode: "headless", label: "  x ", timeout_seconds: "900" })) {
    form.set(name, value);
  }
  expect(readSpec(form)).toEqual({ mode: "headless", label: "x", timeout_seconds: 900, idle_timeout_s: 0 });
});

it("tells in words why an action failed", () => {
  expect(outcomeOf({ ...action("click"), outcome: "control_held" })).toBe("Refused: a person had control");
  expect(outcomeOf({ ...action("click"), outcome: "element_not_found" })).toBe("Element not found");
});
