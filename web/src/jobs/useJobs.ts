import { useCallback, useEffect, useRef, useState } from "react";
import { client, explain } from "../api/client";
import type { Job, JobFilter } from "../api/wire";
import { useSessions } from "../sessions/provider";
import { withJob } from "./job";

interface Jobs {
  /** Null until they have come. */
  jobs: Job[] | null;
  error: string | null;
  /** Whether there are older ones. */
  hasMore: boolean;
  more: () => Promise<void>;
  /** Shows an answer before its event arrives. */
  put: (job: Job) => void;
}

/** The jobs that match a filter, kept current by events. */
export function useJobs({ state, pack }: JobFilter): Jobs {
  const { stream, subscribe } = useSessions();
  const [jobs, setJobs] = useState<Job[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  // Answers to earlier questions are ignored. Events that arrive while a list is read are newer than the list.
  const asked = useRef(0);
  const missed = useRef<Job[]>([]);

  const put = useCallback(
    (job: Job) => setJobs((jobs) => (jobs === null ? jobs : withJob(jobs, job, { state, pack }))),
    [state, pack],
  );
  const load = useCallback(
    async (after?: string) => {
      const number = ++asked.current;
      missed.current = [];
      try {
        const page = await client.jobs({ state, pack }, after);
        if (number !== asked.current) return;
        setJobs((old) => {
          const listed = after === undefined ? page.jobs : [...(old ?? []), ...page.jobs];
          return missed.current.reduce((jobs, job) => withJob(jobs, job, { state, pack }), listed);
        });
        setCursor(page.next_cursor ?? null);
        setError(null);
      } catch (caught) {
        if (number === asked.current) setError(explain(caught));
      }
    },
    [state, pack],
  );

  useEffect(() => setJobs(null), [state, pack]);
  useEffect(() => {
    if (stream !== "lost") void load();
  }, [stream, load]);
  useEffect(
    () =>
      subscribe((event) => {
        if (event.kind === "reset") void load();
        if (event.kind !== "job") return;
        missed.current.push(event.job);
        put(event.job);
      }),
    [subscribe, load, put],
  );

  const more = useCallback(async () => {
    if (cursor !== null) await load(cursor);
  }, [load, cursor]);
  return { jobs, error, hasMore: cursor !== null, more, put };
}
