import type { Job, JobFilter, JobState } from "../api/wire";

export const states: { value: JobState; text: string }[] = [
  { value: "working", text: "Working" },
  { value: "completed", text: "Completed" },
  { value: "failed", text: "Failed" },
  { value: "cancelled", text: "Cancelled" },
];

/** The state in a word. A job that has not begun waits for its turn. */
export function stateOf({ state, started_at }: Job): string {
  if (state === "working" && started_at == null) return "Waiting";
  return states.find(({ value }) => value === state)?.text ?? state;
}

/** What it does now, or how it ended. */
export function wordsOf(job: Job): string {
  if (job.state === "failed") return job.error?.message ?? "";
  return job.state === "working" && job.started_at != null ? (job.message ?? "") : "";
}

/** How long it has run, in milliseconds; null before it begins. */
export function ranFor({ state, started_at, duration_ms }: Job, now: number): number | null {
  if (started_at == null) return null;
  return state === "working" ? Math.max(0, now - Date.parse(started_at)) : duration_ms;
}

/** What the page of jobs shows, as written in its address. */
export interface Shown extends JobFilter {
  /** The job whose details are open. */
  job?: string | undefined;
}

export function readShown(search: string): Shown {
  const query = new URLSearchParams(search);
  return {
    state: states.find(({ value }) => value === query.get("state"))?.value,
    pack: query.get("pack") || undefined,
    job: query.get("job") || undefined,
  };
}

export function jobsPage({ state, pack, job }: Shown): string {
  const given = Object.entries({ state, pack, job }).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? "jobs" : `jobs?${new URLSearchParams(given).toString()}`;
}

/** The list with a changed job: replaced, added at the top, or removed if the filter excludes it now. */
export function withJob(jobs: Job[], changed: Job, { state, pack }: JobFilter): Job[] {
  const wanted = (state === undefined || changed.state === state) && (pack === undefined || changed.pack === pack);
  const known = jobs.find(({ job_id }) => job_id === changed.job_id);
  if (!wanted) return known ? jobs.filter((job) => job !== known) : jobs;
  // An answer may be older than the event that came before it.
  if (known && known.state !== "working" && changed.state === "working") return jobs;
  if (known) return jobs.map((job) => (job === known ? changed : job));
  const after = jobs.findIndex(({ created_at }) => Date.parse(created_at) < Date.parse(changed.created_at));
  return after < 0 ? [...jobs, changed] : jobs.toSpliced(after, 0, changed);
}
