import { useState } from "react";
import { allows } from "../api/client";
import type { Session } from "../api/wire";
import { sentence } from "../format";
import { useIdentity } from "../identity";
import { Link, navigate } from "../router";
import { endingOf } from "../sessions/name";
import { NewSession } from "../wall/NewSession";

/** Stands where the picture was, once a session is over: why, and how to go on. */
export function Ending({ session }: { session: Session }) {
  const { scopes } = useIdentity();
  const [creating, setCreating] = useState(false);
  const failed = session.status === "error";
  return (
    <>
      <div className="card" role="status">
        <h2>{failed ? "The session failed" : "The session has ended"}</h2>
        <p>{endingOf(session)}</p>
        {session.error && <p className="muted">{sentence(session.error.split("\n")[0] ?? "")}</p>}
        {failed && <p>Nothing of it is left to go on with. Its logs, in the panel, tell what came before.</p>}
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
    </>
  );
}
