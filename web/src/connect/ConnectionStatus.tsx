import type { ClientConnection } from "../api/wire";
import { useNow } from "../clock";
import { ago } from "../format";
import { Link } from "../router";
import { Icon } from "../ui/Icon";
import { nameOf } from "./connection";

interface ConnectionStatusProps {
  /** The program's name. */
  title: string;
  /** Null while it has not connected. */
  connected: ClientConnection | null;
}

/** Whether the program has connected with the token that was just made. */
export function ConnectionStatus({ title, connected }: ConnectionStatusProps) {
  return (
    <div className="connection" role="status" data-connected={connected !== null}>
      {connected === null ? (
        <>
          <span className="spinner" />
          <span>Waiting for {title} to connect…</span>
        </>
      ) : (
        <>
          <Icon name="check" />
          <span>
            <b>Connected: {nameOf(connected)}</b> · <Seen at={connected.last_seen} />
          </span>
          <Link className="button" to="">
            Watch<span className="wide-only">sessions</span>
          </Link>
        </>
      )}
    </div>
  );
}

// Screen readers do not announce it again when only the time changes.
function Seen({ at }: { at: string }) {
  const now = useNow();
  return <span aria-live="off">{ago(at, now)}</span>;
}
