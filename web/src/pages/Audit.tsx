import { useEffect, useMemo, useState } from "react";
import { allows } from "../api/client";
import { AuditFilters } from "../audit/AuditFilters";
import { AuditTable } from "../audit/AuditTable";
import { apiQuery, canFollow, everything, pageOf, readFilter, type Filter } from "../audit/filter";
import type { Rows } from "../audit/state";
import { useAudit } from "../audit/useAudit";
import type { StreamState } from "../events/source";
import { useIdentity } from "../identity";
import { api } from "../prefix";
import { navigate, useSearch } from "../router";
import { AppBar } from "../ui/AppBar";
import { Menu } from "../ui/Menu";
import { Nothing } from "../ui/Nothing";

/** Who did what, newest first. */
export function Audit({ onLogOut }: { onLogOut: () => void }) {
  const { scopes } = useIdentity();
  useEffect(() => {
    document.title = "Audit · helmdeck";
  }, []);
  return (
    <div className="plain-page">
      <AppBar current="audit" onLogOut={onLogOut} />
      <main className="audit-page">
        {allows(scopes, "audit:read") ? (
          <Log />
        ) : (
          <>
            <h1>Audit</h1>
            <p className="lead muted">Your token lacks the permission to read the audit log.</p>
          </>
        )}
      </main>
    </div>
  );
}

function Log() {
  const search = useSearch();
  const filter = useMemo(() => readFilter(search), [search]);
  const [live, setLive] = useState(true);
  const { rows, error, tail, busy, loadOlder } = useAudit(filter, live);
  const filtered = pageOf(filter) !== pageOf(everything);
  const change = (changed: Filter) => navigate(pageOf(changed), true);
  return (
    <>
      <div className="page-head">
        <h1>Audit</h1>
        <div className="audit-tools">
          <LiveSwitch live={live} possible={canFollow(filter, Date.now())} tail={tail} onChange={setLive} />
          <Export filter={filter} />
        </div>
      </div>
      <p className="lead muted">
        Who did what on this server. Each entry carries the hash of the one before, and{" "}
        <code>helmdeck audit verify</code> names the first one that was changed or removed.
      </p>
      <AuditFilters filter={filter} onChange={change} />
      {error !== null && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      {rows === null ? (
        error === null && <span className="spinner" role="status" aria-label="Loading" />
      ) : rows.entries.length === 0 ? (
        <Nothing icon="search" title="No entries match">
          {filtered && (
            <button type="button" onClick={() => change(everything)}>
              Clear filters
            </button>
          )}
        </Nothing>
      ) : (
        <>
          <p className="audit-count muted" role="status">
            {shown(rows)}
            {filtered && (
              <button type="button" className="quiet" onClick={() => change(everything)}>
                Clear filters
              </button>
            )}
          </p>
          <AuditTable entries={rows.entries} />
          {rows.next !== null && (
            <button type="button" className="audit-older" disabled={busy} onClick={() => void loadOlder()}>
              {busy ? "Loading…" : "Load older entries"}
            </button>
          )}
        </>
      )}
    </>
  );
}

function shown({ entries, next }: Rows): string {
  if (next !== null) return `The newest ${entries.length} entries`;
  return entries.length === 1 ? "1 entry" : `${entries.length} entries`;
}

interface LiveSwitchProps {
  live: boolean;
  possible: boolean;
  tail: StreamState | null;
  onChange: (live: boolean) => void;
}

function LiveSwitch({ live, possible, tail, onChange }: LiveSwitchProps) {
  const lost = tail === "lost";
  return (
    <label className="audit-live" data-lost={lost} title="Show new entries as they arrive">
      <input
        type="checkbox"
        role="switch"
        checked={live && possible}
        disabled={!possible}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>{lost && live ? "Reconnecting…" : "Live"}</span>
    </label>
  );
}

/** Files of what the filter selects. */
function Export({ filter }: { filter: Filter }) {
  const url = (format: string) => {
    const query = apiQuery(filter, Date.now());
    return api(`audit/export?format=${format}${query && `&${query}`}`);
  };
  return (
    <Menu icon="download" label="Export" text="Export">
      {(close) => (
        <>
          <a className="button quiet" href={url("jsonl")} download onClick={close}>
            JSON Lines
          </a>
          <a className="button quiet" href={url("csv")} download onClick={close}>
            CSV
          </a>
        </>
      )}
    </Menu>
  );
}
