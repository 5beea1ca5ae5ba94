import { expect, it } from "vitest";
import { linesOf, merge, most, spotOf, type Effect, type Hit, type Trace, type TraceEntry } from "../src/session/trace";
import { aboutHit, effectOf, eventOf, hitOf, placeOf } from "../src/session/traceWords";

function click(id: number, more: Partial<TraceEntry> = {}): TraceEntry {
  return { id, at_ms: id * 1000, kind: "action", action: "click", duration_ms: 5, outcome: "ok", ...more };
}

function read(entries: TraceEntry[], now_ms: number, next = entries.at(-1)?.id ?? 0) {
  return { entries, next, now_ms };
}

/** A trace that was read once, long after its entries. */
function traceOf(...entries: TraceEntry[]): Trace {
  return merge(null, read(entries, 500_000), 0)!;
}

it("says in words what an action changed, also for effects of a newer server", () => {
  expect(effectOf("confirmed")).toBe("Changed");
  expect(effectOf("no_visible_change")).toBe("No visible change");
  expect(effectOf("window_opened")).toBe("Opened a window");
  expect(effectOf("focus_moved")).toBe("Moved the focus");
  expect(effectOf("went_to_sleep" as Effect)).toBe("Went to sleep");
});

it("says what was hit, as far as it is known", () => {
  const hit = (more: Partial<Hit>) => hitOf({ source: "dom", ...more });
  expect(hit({ role: "button", name: "Save" })).toBe("Button “Save”");
  expect(hit({ role: "menu_item", name: "save_as" })).toBe("Menu item “save_as”");
  expect(hit({ role: "button", name: "Save", states: ["focused", "disabled"] })).toBe("Button “Save”, disabled");
  expect(hit({ role: "", name: "", element: "canvas" })).toBe("Canvas");
  expect(hit({ name: "OK" })).toBe("“OK”");
  expect(hit({ window: "xterm" })).toBe("Window “xterm”");
  expect(hit({})).toBe("");
  const all: Hit = { source: "dom", role: "entry", name: "Name", value: "Ada", selector: "#name", window: "Form" };
  expect(aboutHit(all)).toBe("Entry “Name”\nValue: Ada\n#name\nIn “Form”");
});

it("says what happened to windows and pages", () => {
  const event = (kind: TraceEntry["kind"], more = {}) => eventOf({ id: 1, at_ms: 1, kind, ...more });
  expect(event("window_opened", { title: "xterm" })).toBe("Opened “xterm”");
  expect(event("window_closed", { title: "" })).toBe("Closed a window");
  expect(event("navigated", { url: "https://a.example/" })).toBe("Now at https://a.example/");
  expect(event("download")).toBe("A download began");
  expect(event("something_new" as TraceEntry["kind"])).toBe("Something new");
});

it("prefers the place where an action really was", () => {
  expect(placeOf(click(1, { detail: { x: 0, y: 0 }, acted_at: { x: 3, y: 4 } }))).toBe("3, 4");
  expect(placeOf(click(1, { detail: { x: 1, y: 2 } }))).toBe("1, 2");
  const path = [{ x: 1, y: 2 }, { x: 3, y: 4 }];
  expect(placeOf(click(1, { action: "drag", detail: { path }, acted_at: { x: 1, y: 2 } }))).toBe("1, 2 → 3, 4");
  expect(spotOf(click(1))).toBeNull();
  expect(spotOf(click(1, { acted_at: { x: 3, y: 4 } }))).toEqual({ at: { x: 3, y: 4 }, hit: null, regions: [] });
});

it("adds new entries, and keeps the list as it is if there are none", () => {
  const first = merge(null, read([click(1)], 90_000), 100_000)!;
  expect(first.began).toBe(10_000);
  const same = merge(first, read([click(1)], 91_000), 101_500)!;
  expect(same.entries).toBe(first.entries);
  expect([same.began, same.at]).toEqual([10_000, 91_000]);
  const second = merge(same, read([click(2), click(3)], 92_000), 102_000)!;
  expect(second.entries.map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(second.entries[0]).toBe(first.entries[0]);
});

it("replaces an entry that was completed meanwhile", () => {
  const { outcome: _, ...begun } = click(1);
  const trace = merge(traceOf(begun), read([click(1, { effect: "confirmed", after: "crop-1-after" })], 500_500), 0)!;
  expect(trace.entries).toHaveLength(1);
  expect(trace.entries[0]).toMatchObject({ outcome: "ok", effect: "confirmed", after: "crop-1-after" });
});

it("starts again if the session has begun another trace", () => {
  const trace = traceOf(click(7));
  expect(merge(trace, read([], 1000, 2), 0)).toBeNull();
});

it("keeps only the last entries", () => {
  const many = Array.from({ length: most + 5 }, (_, index) => click(index + 1));
  expect(traceOf(...many).entries).toHaveLength(most);
  const more = merge(traceOf(...many), read([click(most + 6)], 600_000), 0)!;
  expect([more.entries.length, more.entries.at(-1)?.id]).toEqual([most, most + 6]);
});

it("shows only the last of several titles of a window in a row", () => {
  const title = (id: number, window: string): TraceEntry => ({ id, at_ms: id, kind: "title_changed", window, title: `${id}` });
  const lines = linesOf([title(1, "a"), title(2, "a"), title(3, "b"), click(4), title(5, "b"), title(6, "b")]);
  expect(lines.map(({ id }) => id)).toEqual([2, 3, 4, 6]);
});
