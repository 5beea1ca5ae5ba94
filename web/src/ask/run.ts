import type { Job, Point, VisionOutcome, VisionQuestion, VisionStatus, VisionStep } from "../api/wire";
import type { Hit, Spot, TraceEntry } from "../session/trace";

/** How the box works: by names of elements, or by pictures and a model. */
export type Mode = "structured" | "vision";

/** The pack that a structured run calls: it asks no model. */
export const structuredPack = "vision.click_anywhere";

/** What the event `vision` says about a run. */
export interface VisionChange {
  session_id: string;
  run_id: string;
  state: VisionStatus["state"];
  /** How many there are. */
  steps: number;
  target: Point | null;
  question: VisionQuestion | null;
  outcome: VisionOutcome | null;
}

/** The change in an event; null if it is none. */
export function changeOf(body: Record<string, unknown>): VisionChange | null {
  const { session_id, run_id, state, steps } = body;
  if (typeof session_id !== "string" || typeof run_id !== "string" || typeof state !== "string") return null;
  if (typeof steps !== "number") return null;
  const { target = null, question = null, outcome = null } = body;
  return { session_id, run_id, state, steps, target, question, outcome } as VisionChange;
}

/**
 * Where the next action will be. The server keeps the last target: after its step is known, and when a paused run goes
 * on, it is where the run was.
 */
export function aimOf(before: VisionChange | null, now: VisionChange): Point | null {
  if (now.state !== "running" || now.target === null) return null;
  if (before === null || before.run_id !== now.run_id) return now.target;
  return before.steps === now.steps && before.state === "running" ? now.target : null;
}

/** A change applied to what was read of a run. Steps and cost have to be read. */
export function changed(run: VisionStatus | null, now: VisionChange): VisionStatus | null {
  if (run === null || run.run_id !== now.run_id || run.state === "ended") return run;
  return { ...run, state: now.state, question: now.question, outcome: now.outcome };
}

/** A run of either mode, as it is shown. */
export interface Shown {
  id: string;
  /** Whether it is a run, which can be paused, or a job that has not begun one. */
  begun: boolean;
  mode: Mode;
  instruction: string;
  /** Null if none is asked. */
  model: string | null;
  by: string | null;
  state: VisionStatus["state"];
  maxSteps: number | null;
  began: string;
  ended: string | null;
  steps: VisionStep[];
  tokens: number;
  /** Null if a price is not known. */
  usd: number | null;
  outcome: VisionOutcome | null;
  reason: string;
  evidence: string[];
  answer: string;
  decisions: NonNullable<VisionStatus["decisions"]>;
}

/** A run. Empty fields may be missing. */
export function ofVision(run: VisionStatus): Shown {
  const { input_tokens, output_tokens, cost_usd } = run.spent;
  return {
    id: run.run_id,
    begun: true,
    mode: run.mode,
    instruction: run.instruction,
    model: run.model ?? null,
    by: run.by.label || run.by.subject,
    state: run.state,
    maxSteps: run.max_steps,
    began: run.began_at,
    ended: run.ended_at ?? null,
    steps: run.steps,
    tokens: input_tokens + output_tokens,
    usd: input_tokens + output_tokens === 0 ? 0 : (cost_usd ?? null),
    outcome: run.outcome ?? null,
    reason: run.reason ?? "",
    evidence: run.evidence ?? [],
    answer: run.answer ?? "",
    decisions: run.decisions ?? [],
  };
}

/** A structured run that is not known yet: a job whose output has the shape of a run. */
export function ofJob(job: Job, instruction: string): Shown {
  const output = (job.output ?? {}) as Partial<Pick<Shown, "steps" | "outcome" | "reason" | "evidence">>;
  const failed: VisionOutcome = job.state === "cancelled" ? "cancelled" : "stuck";
  const over = job.state !== "working";
  return {
    id: job.job_id,
    begun: false,
    mode: "structured",
    instruction,
    model: null,
    by: null,
    state: over ? "ended" : "running",
    maxSteps: null,
    began: job.created_at,
    ended: job.ended_at ?? null,
    steps: output.steps ?? [],
    tokens: 0,
    usd: 0,
    outcome: over ? (output.outcome ?? failed) : null,
    reason: output.reason ?? job.error?.message ?? "",
    evidence: output.evidence ?? [],
    answer: "",
    decisions: [],
  };
}

/** The place of a step in the session's picture. */
export function spotOf({ action, moved_to, hit, regions }: VisionStep): Spot | null {
  const at = moved_to ?? pointOf(action);
  const spot = { at, hit: hit?.rect ?? null, regions: regions ?? [] };
  return spot.at === null && spot.hit === null && spot.regions.length === 0 ? null : spot;
}

/** The small pictures of a step, as the trace shows them. */
export function cropsOf({ pictures, hit, effect }: VisionStep): Pick<TraceEntry, "before" | "after" | "hit" | "effect"> {
  return {
    ...(pictures && { before: pictures.before, after: pictures.after }),
    // Null and absent are the same here.
    ...(hit && { hit: hit as Hit }),
    ...(effect && { effect }),
  };
}

/** Where an action was requested. */
export function pointOf(action: VisionStep["action"]): Point | null {
  if (!action) return null;
  if (action.action === "drag") return action.path[0] ?? null;
  const at = "at" in action ? action.at : null;
  return at && "x" in at ? at : null;
}
