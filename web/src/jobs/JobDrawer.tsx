import { useEffect, useState } from "react";
import { client } from "../api/client";
import type { Job } from "../api/wire";
import { packPage } from "../packs/pack";
import { Link } from "../router";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { JsonTree } from "../ui/JsonTree";
import { Deliveries } from "./Deliveries";
import { JobView } from "./JobView";
import { useJob } from "./useJob";

interface JobDrawerProps {
  id: string;
  mayAct: boolean;
  onCancel: (job: Job) => void;
  onClose: () => void;
}

/** Everything about a job: result or error, input, and webhook deliveries. */
export function JobDrawer({ id, mayAct, onCancel, onClose }: JobDrawerProps) {
  const { job, error } = useJob(id);
  const [input, setInput] = useState<Record<string, unknown> | null>(null);
  useEffect(() => {
    let current = true;
    client.jobInput(id).then(
      (input) => current && setInput(input),
      () => {},
    );
    return () => {
      current = false;
    };
  }, [id]);
  return (
    <Dialog title={job?.pack ?? "Job"} onClose={onClose} drawer>
      <div className="dialog-body" tabIndex={-1} data-autofocus>
        {error !== null && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        {job === null && error === null && <span className="spinner" role="status" aria-label="Loading" />}
        {job !== null && (
          <>
            <JobView job={job} />
            {input !== null && Object.keys(input).length > 0 && (
              <details className="job-input">
                <summary>Input</summary>
                <JsonTree value={input} />
              </details>
            )}
            <Deliveries jobId={id} state={job.state} mayAct={mayAct} />
            {mayAct && (
              <footer>
                {job.state === "working" ? (
                  <button type="button" className="danger-text" onClick={() => onCancel(job)}>
                    Cancel job
                  </button>
                ) : (
                  <Link className="button primary" to={packPage(job.pack, job.job_id)}>
                    <Icon name="retry" /> Run again…
                  </Link>
                )}
              </footer>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}
