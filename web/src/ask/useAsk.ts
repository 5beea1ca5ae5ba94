import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { client, explain } from "../api/client";
import type { AskVision, Point, VisionDecision, VisionQuestion, VisionStatus } from "../api/wire";
import { useJob } from "../jobs/useJob";
import { useSessions } from "../sessions/provider";
import { aimOf, changed, ofJob, ofVision, structuredPack, type Mode, type Shown, type VisionChange } from "./run";

export interface Ask {
  /** The current or last run. */
  run: Shown | null;
  /** What a person has to decide now. */
  question: VisionQuestion | null;
  /** Where the next action will be. */
  aim: Point | null;
  /** Dollars that the run may use, if this page set them. */
  budget: number | null;
  /** What just failed. */
  error: string | null;
  /** Whether it began. */
  start: (mode: Mode, ask: AskVision) => Promise<boolean>;
  steer: (how: "pause" | "resume" | "stop") => Promise<void>;
  answer: (question: VisionQuestion, decision: VisionDecision) => Promise<void>;
}

/** The runs of a session that people ask for or watch, kept current by events. Nothing is read unless it is `live`. */
export function useAsk(sessionId: string, live: boolean): Ask {
  const { subscribe, stream } = useSessions();
  const [vision, setVision] = useState<VisionStatus | null>(null);
  const [aim, setAim] = useState<Point | null>(null);
  const [asked, setAsked] = useState<{ jobId: string; instruction: string } | null>(null);
  const [budget, setBudget] = useState<{ runId: string; usd: number } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { job, error: jobError } = useJob(asked?.jobId ?? null);

  // One read at a time; events that come meanwhile cause one more.
  const reading = useRef<"no" | "yes" | "again">("no");
  const read = useCallback(async () => {
    if (reading.current !== "no") {
      reading.current = "again";
      return;
    }
    do {
      reading.current = "yes";
      const run = await client.vision(sessionId).catch(() => undefined);
      if (run !== undefined) setVision(run);
      // Written by events meanwhile.
    } while ((reading.current as string) === "again");
    reading.current = "no";
  }, [sessionId]);

  useEffect(() => {
    if (live && stream === "live") void read();
  }, [live, stream, read]);

  const last = useRef<VisionChange | null>(null);
  useEffect(() => {
    if (!live) return;
    return subscribe((event) => {
      if (event.kind === "reset") void read();
      if (event.kind !== "vision" || event.change.session_id !== sessionId) return;
      const { change } = event;
      const before = last.current;
      last.current = change;
      setAim(aimOf(before, change));
      setVision((run) => changed(run, change));
      void read();
    });
  }, [live, sessionId, subscribe, read]);

  const attempt = useCallback(async (work: () => Promise<unknown>) => {
    setError(null);
    try {
      await work();
      return true;
    } catch (caught) {
      setError(explain(caught));
      return false;
    }
  }, []);

  const start = useCallback(
    (mode: Mode, ask: AskVision) =>
      attempt(async () => {
        if (mode === "vision") {
          const run = await client.startVision(sessionId, ask);
          setAsked(null);
          setVision((old) => (old?.run_id === run.run_id ? old : run));
          setBudget(ask.budget ? { runId: run.run_id, usd: ask.budget.usd } : null);
          return;
        }
        const input = { goal: ask.instruction, _mode: mode, _session_id: sessionId };
        const { job_id } = await client.runPack(structuredPack, input);
        setAsked({ jobId: job_id, instruction: ask.instruction });
      }),
    [attempt, sessionId],
  );

  const run = useMemo(() => {
    const seen = vision && ofVision(vision);
    // The later one; a run that goes on comes first, and that of the job replaces it.
    if (asked === null || job === null || (seen && (seen.state !== "ended" || vision?.job_id === job.job_id))) return seen;
    const structured = ofJob(job, asked.instruction);
    return seen && Date.parse(seen.began) > Date.parse(structured.began) ? seen : structured;
  }, [vision, asked, job]);

  const steer = useCallback(
    async (how: "pause" | "resume" | "stop") => {
      // A job that waits for its turn has no run yet.
      const waits = asked !== null && run?.id === asked.jobId;
      await attempt(async () => {
        if (waits) await client.cancelJob(asked.jobId);
        else setVision(await client.steerVision(sessionId, how));
      });
    },
    [attempt, asked, run, sessionId],
  );

  const answer = useCallback(
    async ({ id }: VisionQuestion, decision: VisionDecision) => {
      await attempt(() => client.answerVision(sessionId, id, decision));
      void read();
    },
    [attempt, sessionId, read],
  );

  const question = vision?.state === "waiting" ? (vision.question ?? null) : null;
  return {
    run,
    question,
    aim: live ? aim : null,
    budget: budget && budget.runId === run?.id ? budget.usd : null,
    error: error ?? jobError,
    start,
    steer,
    answer,
  };
}
