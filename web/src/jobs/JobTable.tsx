import { memo } from "react";
import type { Job } from "../api/wire";
import { ago, dateAndTime, span, took } from "../format";
import { packPage } from "../packs/pack";
import { Link } from "../router";
import { Menu } from "../ui/Menu";
import { JobBadge, JobProgress } from "./JobBadge";
import { ranFor, wordsOf } from "./job";

interface JobTableProps {
  jobs: Job[];
  now: number;
  mayAct: boolean;
  /** The address of the details of a job. */
  pageOf: (job: Job) => string;
  onCancel: (job: Job) => void;
}

/** Jobs, one to a row; on a phone, one to a card. */
export function JobTable({ jobs, now, mayAct, pageOf, onCancel }: JobTableProps) {
  return (
    <table className="table jobs" aria-label="Jobs, newest first">
      <thead>
        <tr>
          <th scope="col">Pack</th>
          <th scope="col">State</th>
          <th scope="col">Progress</th>
          <th scope="col">Session</th>
          <th scope="col">Started</th>
          <th scope="col">Time</th>
          <th scope="col">
            <span className="off-screen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <Row
            key={job.job_id}
            job={job}
            // Rows of ended jobs change only with the minute.
            now={job.state === "working" ? now : Math.floor(now / 60_000) * 60_000}
            mayAct={mayAct}
            page={pageOf(job)}
            onCancel={onCancel}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  job: Job;
  now: number;
  mayAct: boolean;
  page: string;
  onCancel: (job: Job) => void;
}

const Row = memo(function Row({ job, now, mayAct, page, onCancel }: RowProps) {
  const ran = ranFor(job, now);
  const words = wordsOf(job);
  return (
    <tr data-state={job.state}>
      <th scope="row">
        <Link to={page} className="table-title">
          {job.pack}
        </Link>
        <span className="muted">{job.job_id}</span>
      </th>
      <td data-label="State">
        <JobBadge job={job} />
      </td>
      <td data-label={job.state === "failed" ? "Error" : "Progress"} data-empty={job.state !== "working" && words === ""}>
        {job.state === "working" ? (
          <JobProgress job={job} />
        ) : (
          <span className="job-words" title={words}>
            {words}
          </span>
        )}
      </td>
      <td data-label="Session" data-empty={job.session_id == null}>
        {job.session_id != null && (
          <Link to={`sessions/${encodeURIComponent(job.session_id)}`} title={job.session_id}>
            Watch
          </Link>
        )}
      </td>
      <td data-label="Started">
        <time dateTime={job.created_at} title={dateAndTime(job.created_at)}>
          {ago(job.created_at, now)}
        </time>
      </td>
      <td data-label="Time" data-empty={ran === null} className="tabular">
        {ran !== null && (job.state === "working" ? span(ran) : took(ran))}
      </td>
      <td className="table-actions">
        {mayAct &&
          (job.state === "working" ? (
            <button type="button" className="quiet" onClick={() => onCancel(job)}>
              Cancel<span className="off-screen"> {job.pack}</span>
            </button>
          ) : (
            <Menu icon="more" label={`More for ${job.pack}`}>
              {() => (
                <>
                  <Link className="button quiet" to={page}>
                    Details
                  </Link>
                  <Link className="button quiet" to={packPage(job.pack, job.job_id)}>
                    Run again…
                  </Link>
                </>
              )}
            </Menu>
          ))}
      </td>
    </tr>
  );
});
