import { memo, useState } from "react";
import type { AuditEntry } from "../api/wire";
import { dateAndTime } from "../format";
import { Link } from "../router";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { actorOf, detailsOf, iconOf, targetOf, titleOf } from "./words";

/** Rows of the audit log; on a phone, one to a card. */
export function AuditTable({ entries }: { entries: AuditEntry[] }) {
  return (
    <table className="table audit" aria-label="Audit log, newest first">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Event</th>
          <th scope="col">Who</th>
          <th scope="col">What</th>
          <th scope="col">Session</th>
          <th scope="col">Address</th>
          <th scope="col">
            <span className="off-screen">Details</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.id} entry={entry} />
        ))}
      </tbody>
    </table>
  );
}

const Row = memo(function Row({ entry }: { entry: AuditEntry }) {
  const [open, setOpen] = useState(false);
  const { name, label } = actorOf(entry);
  const details = detailsOf(entry);
  const target = targetOf(entry);
  return (
    <>
      <tr data-severity={entry.severity} data-open={open}>
        <td className="audit-time tabular">
          <time dateTime={entry.at}>{dateAndTime(entry.at)}</time>
        </td>
        <th scope="row">
          <span className="audit-event">
            <Icon name={iconOf(entry.event_type)} />
            <span title={entry.event_type}>{titleOf(entry.event_type)}</span>
            {entry.severity !== "info" && <span className="audit-severity">{entry.severity}</span>}
          </span>
        </th>
        <td data-label="Who" data-empty={entry.actor_subject == null}>
          {entry.actor_subject != null && (
            <span className="audit-actor">
              <Icon name={entry.human ? "person" : "agent"} />
              <span>
                {name} {label && <span className="muted">{label}</span>}
              </span>
            </span>
          )}
        </td>
        <td data-label="What" data-empty={target === "" && details.length === 0}>
          <span>
            {target && <span className="audit-target">{target}</span>} <span className="muted">{details.join(" · ")}</span>
          </span>
        </td>
        <td data-label="Session" data-empty={entry.session_id == null}>
          {entry.session_id != null && (
            <Link to={`sessions/${encodeURIComponent(entry.session_id)}`} className="audit-id" title={entry.session_id}>
              {entry.session_id}
            </Link>
          )}
        </td>
        <td data-label="Address" data-empty={entry.remote_address == null} className="tabular">
          {entry.remote_address}
        </td>
        <td className="table-actions">
          <IconButton
            icon={open ? "down" : "next"}
            label={`Details of entry ${entry.id}`}
            className="quiet"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          />
        </td>
      </tr>
      {open && (
        <tr className="table-more">
          <td colSpan={7}>
            <dl>
              <dt>Entry</dt>
              <dd>
                {entry.id} · {entry.event_type} · {entry.severity}
              </dd>
              {entry.target != null && (
                <>
                  <dt>Target</dt>
                  <dd>{entry.target}</dd>
                </>
              )}
              {entry.remote_address != null && (
                <>
                  <dt>Address</dt>
                  <dd>{entry.remote_address}</dd>
                </>
              )}
              <dt>Details</dt>
              <dd>
                <code>{JSON.stringify(entry.details)}</code>
              </dd>
              <dt>Hash</dt>
              <dd>
                <code>{entry.hash}</code>
              </dd>
              <dt>Hash before</dt>
              <dd>
                <code>{entry.previous_hash}</code>
              </dd>
            </dl>
          </td>
        </tr>
      )}
    </>
  );
});
