import { useEffect, useMemo, useState } from "react";
import { allows, client } from "../api/client";
import type { Job, JobState } from "../api/wire";
import { useNow } from "../clock";
import { useIdentity } from "../identity";
import { jobsPage, readShown, states, type Shown } from "../jobs/job";
import { JobDrawer } from "../jobs/JobDrawer";
import { JobTable } from "../jobs/JobTable";
import { useJobs } from "../jobs/useJobs";
import { usePacks } from "../packs/usePacks";
import { Link, navigate, useSearch } from "../router";
import { AppBar } from "../ui/AppBar";
import { Confirm } from "../ui/Confirm";
import { Icon } from "../ui/Icon";
import { NoMatch, Nothing } from "../ui/Nothing";
import { StreamBanner } from "../wall/StreamBanner";

/** Calls of packs: what runs now, and what has ended. */
export function Jobs({ onLogOut }: { onLogOut: () => void }) {
  const { scopes } = useIdentity();
  const mayAct = allows(scopes, "sessions:act");
  const search = useSearch();
  const shown = useMemo(() => readShown(search), [search]);
  const { jobs, error, hasMore, more, put } = useJobs(shown);
  const [cancelling, setCancelling] = useState<Job | null>(null);
  const now = useNow();

  useEffect(() => {
    document.title = "Jobs · helmdeck";
  }, []);
  const change = (changed: Shown) => navigate(jobsPage({ ...shown, ...changed }), true);
  const filtered = shown.state !== undefined || shown.pack !== undefined;

  return (
    <div className="plain-page">
      <AppBar current="jobs" onLogOut={onLogOut} />
      <StreamBanner />
      <main className="jobs-page">
        <div className="page-head">
          <h1>Jobs</h1>
          <Link className="button primary" to="packs">
            <Icon name="play" /> Run a pack
          </Link>
        </div>
        <p className="lead muted">
          Every call of a pack is a job, whether an agent or a person made it. Results are kept for 24 hours.
        </p>
        <Filters shown={shown} onChange={change} />
        {error !== null && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        {jobs === null ? (
          error === null && <span className="spinner" role="status" aria-label="Loading" />
        ) : jobs.length === 0 ? (
          filtered ? (
            <NoMatch title="No job matches" onClear={() => change({ state: undefined, pack: undefined })} />
          ) : (
            <NoJobs />
          )
        ) : (
          <JobTable
            jobs={jobs}
            now={now}
            mayAct={mayAct}
            pageOf={({ job_id }) => jobsPage({ ...shown, job: job_id })}
            onCancel={setCancelling}
          />
        )}
        {hasMore && (
          <p className="more-artifacts">
            <button type="button" onClick={() => void more()}>
              Show more
            </button>
          </p>
        )}
      </main>
      {shown.job !== undefined && (
        <JobDrawer
          key={shown.job}
          id={shown.job}
          mayAct={mayAct}
          onCancel={setCancelling}
          onClose={() => change({ job: undefined })}
        />
      )}
      {cancelling && (
        <Confirm
          title="Cancel job?"
          action="Cancel job"
          danger
          onConfirm={async () => put(await client.cancelJob(cancelling.job_id))}
          onClose={() => setCancelling(null)}
        >
          <p>
            <b>{cancelling.pack}</b> and all programs that it started are ended. What it has done so far stays.
          </p>
        </Confirm>
      )}
    </div>
  );
}

function Filters({ shown, onChange }: { shown: Shown; onChange: (shown: Shown) => void }) {
  const { value: packs } = usePacks();
  const names = new Set([...(packs ?? []).map(({ name }) => name), ...(shown.pack ? [shown.pack] : [])]);
  return (
    <div className="job-filters" role="search" aria-label="Filter">
      <select
        aria-label="State"
        value={shown.state ?? ""}
        onChange={({ target }) => onChange({ state: (target.value || undefined) as JobState | undefined })}
      >
        <option value="">All states</option>
        {states.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <select
        aria-label="Pack"
        value={shown.pack ?? ""}
        onChange={({ target }) => onChange({ pack: target.value || undefined })}
      >
        <option value="">All packs</option>
        {[...names].sort().map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  );
}

function NoJobs() {
  return (
    <Nothing icon="clock" title="No jobs in the last 24 hours">
      <p className="muted">
        When an agent calls a pack, or you run one, its progress and result appear here at once. Long ones go on when
        the agent disconnects.
      </p>
      <Link className="button" to="packs">
        Choose a pack
      </Link>
    </Nothing>
  );
}
