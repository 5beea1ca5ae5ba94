import { useState } from "react";
import { allows, lastPictureUrl } from "../api/client";
import type { Session } from "../api/wire";
import { count, dateAndTime, sentence, span } from "../format";
import { useIdentity } from "../identity";
import { Link, navigate } from "../router";
import { endingOf } from "../sessions/name";
import { NewSession } from "../wall/NewSession";

/** Replaces the picture of an ended session: its last picture, why it ended, and links. */
export function Ending({ session }: { session: Session }) {
  const { scopes } = useIdentity();
  const [creating, setCreating] = useState(false);
  const [lost, setLost] = useState(false);
  const failed = session.status === "error";
  const picture = session.last_picture && !lost;
  return (
    <div className="stage" data-over="true">
      {picture && (
        <img
          className="last-picture"
          src={lastPictureUrl(session.id)}
          alt="The last picture of the session"
          onError={() => setLost(true)}
        />
      )}
      <div className="card ending" role="status">
        <h2>{failed ? "The session failed" : "The session has ended"}</h2>
        <p>{endingOf(session)}</p>
        {session.error && <p className="muted">{sentence(session.error.split("\n")[0] ?? "")}</p>}
        <p className="muted">{summaryOf(session)}</p>
        <div className="row">
          {allows(scopes, "sessions:write") && (
            <button type="button" className={failed ? "primary" : ""} onClick={() => setCreating(true)}>
              New session
            </button>
          )}
          <Link className="button" to="">
            All sessions
          </Link>
        </div>
      </div>
      {creating && (
        <NewSession onCreated={({ id }) => navigate(`sessions/${id}`)} onClose={() => setCreating(false)} />
      )}
    </div>
  );
}

/** When it ended, how long it ran and how many actions it had. */
function summaryOf({ created_at, ended_at, tasks }: Session): string {
  if (!ended_at) return count(tasks, "action");
  const lived = span(Date.parse(ended_at) - Date.parse(created_at));
  return `${dateAndTime(ended_at)} · after ${lived} · ${count(tasks, "action")}`;
}
