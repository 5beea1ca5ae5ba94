import type { Session } from "../api/wire";
import { Link } from "../router";
import { endingOf } from "../sessions/name";

/** Stands where the picture was, once a session is over. */
export function Ending({ session }: { session: Session }) {
  return (
    <div className="card" role="status">
      <h2>{session.status === "error" ? "The session failed" : "The session has ended"}</h2>
      <p>{endingOf(session)}</p>
      {session.error && <p className="muted">{session.error.split("\n")[0]}</p>}
      <Link className="button" to="">
        All sessions
      </Link>
    </div>
  );
}
