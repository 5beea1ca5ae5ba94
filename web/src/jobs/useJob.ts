import { useEffect, useState } from "react";
import { client, explain } from "../api/client";
import type { Job } from "../api/wire";
import { isJob } from "../events/event";
import { Source } from "../events/source";
import { parseObject } from "../json";
import { api } from "../prefix";

/** A job with its output, followed until it ends. */
export function useJob(id: string | null): { job: Job | null; error: string | null } {
  const [job, setJob] = useState<Job | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    setJob(null);
    setError(null);
    if (id === null) return;
    let closed = false;
    const show = (job: Job) => {
      if (closed) return;
      setJob(job);
      if (job.state !== "working") stream.close();
    };
    const stream = new Source(api(`jobs/${encodeURIComponent(id)}/events`), ["job"], {
      message: (_name, data) => {
        const body = parseObject(data);
        if (isJob(body)) show(body);
      },
      state: () => {},
      // The answer says why.
      refused: () =>
        void client.job(id).then(show, (caught: unknown) => {
          if (closed) return;
          setError(explain(caught));
          stream.close();
        }),
    });
    return () => {
      closed = true;
      stream.close();
    };
  }, [id]);
  return { job: job?.job_id === id ? job : null, error };
}
