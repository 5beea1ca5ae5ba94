import { expect, it } from "vitest";
import type { Job, VisionStatus, VisionStep } from "../src/api/wire";
import { aimOf, changed, changeOf, cropsOf, ofJob, ofVision, spotOf, type VisionChange } from "../src/ask/run";
import { actionOf, costOf, endOf, numberOf, placeOf, reasonOf, stateOf, stepOf } from "../src/ask/words";
import { parseEvent } from "../src/events/event";

const change = (more: Partial<VisionChange> = {}): VisionChange => ({
  session_id: "sess-1",
  run_id: "vision-1",
  state: "running",
  steps: 0,
  target: null,
  question: null,
  outcome: null,
  ...more,
});
const step = (more: Partial<VisionStep> = {}): VisionStep => ({ step: 1, duration_ms: 10, ...more });
const spent = (input_tokens: number, output_tokens: number, cost_usd?: number) => ({
  input_tokens,
  output_tokens,
  cached_tokens: 0,
  ...(cost_usd === undefined ? {} : { cost_usd }),
});
const run = (more: Partial<VisionStatus> = {}) =>
  ({
    run_id: "vision-1",
    session_id: "sess-1",
    by: { kind: "human", subject: "ann" },
    instruction: "Click Save",
    mode: "vision",
    model: "openai/gpt-5.4",
    max_steps: 20,
    state: "running",
    began_at: "2026-01-01T00:00:00Z",
    steps: [],
    spent: spent(0, 0),
    ...more,
  }) as unknown as VisionStatus;

it("reads the event of a run, and ignores what is none", () => {
  expect(changeOf({ session_id: "s", run_id: "r", state: "running", steps: 2 })).toEqual(
    change({ session_id: "s", run_id: "r", steps: 2 }),
  );
  expect(changeOf({ session_id: "s", run_id: "r", state: "running" })).toBeNull();
  const event = parseEvent("vision", JSON.stringify(change({ target: { x: 1, y: 2 } })));
  expect(event).toEqual({ kind: "vision", change: change({ target: { x: 1, y: 2 } }) });
});

it("points at a target until its step is known, and not at an old one", () => {
  const target = { x: 5, y: 6 };
  const began = change();
  const aims = change({ target });
  const noted = change({ target, steps: 1 });
  const paused = change({ target, steps: 1, state: "paused" });
  const resumed = change({ target, steps: 1 });
  expect(aimOf(null, began)).toBeNull();
  expect(aimOf(began, aims)).toEqual(target);
  expect(aimOf(aims, noted)).toBeNull();
  expect(aimOf(noted, paused)).toBeNull();
  expect(aimOf(paused, resumed)).toBeNull();
  expect(aimOf(noted, change({ target, steps: 1 }))).toEqual(target);
  expect(aimOf(noted, change({ run_id: "vision-2", target }))).toEqual(target);
});

it("applies a change at once, except to another or an ended run", () => {
  const question = { id: "q", text: "t", asked_at: "", expires_at: "" };
  const waiting = change({ state: "waiting", question });
  expect(changed(run(), waiting)).toMatchObject({ state: "waiting", question });
  expect(changed(run({ run_id: "vision-2" }), waiting)).toMatchObject({ state: "running" });
  expect(changed(run({ state: "ended" }), waiting)).toMatchObject({ state: "ended" });
  expect(changed(null, waiting)).toBeNull();
});

it("shows runs of both modes alike", () => {
  expect(ofVision(run())).toMatchObject({ mode: "vision", tokens: 0, usd: 0, by: "ann", evidence: [] });
  expect(ofVision(run({ spent: spent(100, 20) }))).toMatchObject({ tokens: 120, usd: null });
  const job = (more: object) => ({ job_id: "job-1", state: "working", created_at: "", ...more }) as unknown as Job;
  expect(ofJob(job({}), "Click Save")).toMatchObject({ mode: "structured", state: "running", model: null, outcome: null });
  const output = { outcome: "completed", reason: "r", evidence: ["e"], steps: [step()] };
  expect(ofJob(job({ state: "completed", output }), "x")).toMatchObject({ state: "ended", ...output });
  expect(ofJob(job({ state: "cancelled" }), "x").outcome).toBe("cancelled");
  const failed = ofJob(job({ state: "failed", error: { message: "no desktop" } }), "x");
  expect([failed.outcome, failed.reason]).toEqual(["stuck", "no desktop"]);
});

it("says in words what a step does", () => {
  const at = { x: 1, y: 2 };
  expect(actionOf({ action: "click", at })).toBe("Click");
  expect(actionOf({ action: "click", at, count: 2 })).toBe("Double click");
  expect(actionOf({ action: "click", at, button: "right", modifiers: ["shift"] })).toBe("Right click with shift");
  expect(actionOf({ action: "scroll", dy: -100 })).toBe("Scroll up");
  expect(actionOf({ action: "type", text: "Ann" })).toBe("Type “Ann”");
  expect(actionOf({ action: "type", text: "•••" })).toBe("Type 3 characters");
  expect(actionOf({ action: "key", keys: "ctrl+l" })).toBe("Press ctrl+l");
  expect(actionOf({ action: "fly_away" } as never)).toBe("Fly away");
  expect(stepOf(step())).toBe("No action");
});

it("says where a step was, and what it cost", () => {
  const click = step({ action: { action: "click", at: { x: 1, y: 2 } } });
  expect(placeOf(click)).toBe("1, 2");
  expect(placeOf({ ...click, moved_to: { x: 3, y: 4 } })).toBe("3, 4");
  expect(spotOf({ ...click, moved_to: { x: 3, y: 4 } })?.at).toEqual({ x: 3, y: 4 });
  expect(spotOf(step({ action: { action: "key", keys: "a" } }))).toBeNull();
  const pictures = { before: "crop-3-before", after: "crop-3-after" };
  expect(cropsOf(step({ pictures, effect: "confirmed" }))).toEqual({ ...pictures, effect: "confirmed" });
  expect(cropsOf(step())).toEqual({});
  expect(costOf(step({ spent: spent(1500, 40, 0.0021) }))).toBe("1.54k tokens · $0.0021");
  expect(costOf(step({ spent: spent(10, 2) }))).toBe("12 tokens");
  expect(costOf(step({ without_model: true }))).toBe("Without a model");
  expect(costOf(step())).toBe("");
});

it("says in plain words how a run ended", () => {
  expect(endOf("completed", "vision")).toMatchObject({ title: "Completed: verified", tone: "good" });
  expect(endOf("unverified", "vision").text).toBe("The model says that it is done, but nothing shows it.");
  expect(reasonOf("unverified", "vision", "the model says that it is done, but nothing that was observed shows it")).toBe("");
  expect(endOf("stuck", "structured").title).toBe("Not reached");
  expect(endOf("stuck", "vision").title).toBe("Stuck");
  expect(endOf("fell_asleep" as never, "vision").title).toBe("Fell asleep");
  expect(stateOf("waiting")).toBe("Waiting for you");
});

it("takes numbers from fields, and nothing from empty ones", () => {
  expect(numberOf(" 0.5 ")).toBe(0.5);
  expect(numberOf("0")).toBe(0);
  expect(numberOf(" ")).toBeUndefined();
  expect(numberOf("many")).toBeUndefined();
});
