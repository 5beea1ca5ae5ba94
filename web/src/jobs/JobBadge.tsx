import type { Job } from "../api/wire";
import { stateOf } from "./job";

export function JobBadge({ job }: { job: Job }) {
  return (
    <span className="badge job-badge" data-state={job.state}>
      {job.state === "working" ? <span className="spinner" aria-hidden="true" /> : <span className="light" />}
      {stateOf(job)}
    </span>
  );
}

/** How far it is, and what it does. */
export function JobProgress({ job }: { job: Job }) {
  const waiting = job.started_at == null;
  return (
    <div className="job-progress">
      {/* Without a value, the bar shows only that something goes on. */}
      <progress
        max={100}
        aria-label={`Progress of ${job.pack}`}
        {...(job.progress > 0 && !waiting ? { value: job.progress } : {})}
      />
      <span className="muted one-line" title={job.message ?? undefined}>
        {waiting ? "Waiting for its turn" : (job.message ?? "Working")}
        {job.progress > 0 && ` · ${job.progress} %`}
      </span>
    </div>
  );
}
