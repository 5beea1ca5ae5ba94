import { artifactUrl } from "../api/client";
import type { Job, JobArtifact } from "../api/wire";
import { ArtifactPreview } from "../artifacts/ArtifactPreview";
import { useNow } from "../clock";
import { ago, bytes, dateAndTime, sentence, span, took } from "../format";
import { Link } from "../router";
import { Icon } from "../ui/Icon";
import { JobBadge, JobProgress } from "./JobBadge";
import { ranFor } from "./job";
import { JobOutput } from "./JobOutput";

/** A job: its state, and its output or error. */
export function JobView({ job }: { job: Job }) {
  const now = useNow();
  const ran = ranFor(job, now);
  const artifacts = job.artifacts ?? [];
  return (
    <div className="job-view">
      <p className="job-facts">
        <JobBadge job={job} />
        <span className="muted" title={dateAndTime(job.created_at)}>
          started {ago(job.created_at, now)}
        </span>
        {ran !== null && (
          <span className="muted tabular">
            {job.state === "working" ? "for" : "took"} {job.state === "working" ? span(ran) : took(ran)}
          </span>
        )}
        <code className="muted">{job.job_id}</code>
      </p>
      {job.state === "working" && <JobProgress job={job} />}
      {job.error && (
        <div className="job-error" role="alert">
          <p>{sentence(job.error.message)}</p>
          {job.error.hint && <p>{sentence(job.error.hint)}</p>}
          <p className="muted">
            <code>{job.error.error}</code>
            {job.error.retryable === true && " · the same call may succeed later"}
          </p>
        </div>
      )}
      {job.session_id && (
        <Link className="button job-session" to={`sessions/${encodeURIComponent(job.session_id)}`}>
          <Icon name="eye" /> Watch its session
        </Link>
      )}
      {artifacts.length > 0 && (
        <ul className="job-artifacts" aria-label="Artifacts of the job">
          {artifacts.map((artifact) => (
            <Artifact key={artifact.key} artifact={artifact} />
          ))}
        </ul>
      )}
      {job.output !== undefined && job.output !== null && <JobOutput output={job.output} />}
    </div>
  );
}

function Artifact({ artifact }: { artifact: JobArtifact }) {
  // A key is the pack, a random number and the name.
  const name = artifact.key.replace(/^.*\/([0-9a-f]{16}-)?/, "");
  return (
    <li>
      <a href={artifactUrl(artifact.key)} download={name} title={`Download ${name}`}>
        <span className="artifact-preview">
          <ArtifactPreview artifact={artifact} />
        </span>
        <span className="one-line">{name}</span>
        <span className="muted">{bytes(artifact.size)}</span>
      </a>
    </li>
  );
}
