import { useState } from "react";
import { allows, lastPictureUrl } from "../api/client";
import type { Session } from "../api/wire";
import { useNow } from "../clock";
import { curlShow } from "../curl";
import { countdown, span } from "../format";
import { useIdentity } from "../identity";
import { Link } from "../router";
import { EndSession } from "../session/EndSession";
import { shownDeadlineOf } from "../sessions/deadline";
import { IdleWarning } from "../sessions/KeepAlive";
import { driverIcon, driverOf, endingOf, modeOf, nameOf } from "../sessions/name";
import { isOver } from "../sessions/state";
import { Thumbnail } from "../thumbnails/Thumbnail";
import { CopyButton } from "../ui/CopyButton";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { Menu } from "../ui/Menu";
import { StatusBadge } from "../ui/StatusBadge";

interface TileProps {
  session: Session;
  /** Dismisses an ended session; omitted where it stays. */
  onDismiss?: () => void;
}

/** One session on the wall. */
export function Tile({ session, onDismiss }: TileProps) {
  const identity = useIdentity();
  const [ending, setEnding] = useState(false);
  const name = nameOf(session);
  const over = isOver(session);
  const human = session.control.driver === "human";

  return (
    <li className="tile" data-over={over} data-human={human && !over}>
      <Link className="tile-picture" to={`sessions/${session.id}`} aria-label={`Watch ${name}`} tabIndex={-1}>
        <Thumbnail
          sessionId={session.id}
          live={session.status !== "starting" && !over}
          last={over && session.last_picture ? lastPictureUrl(session.id) : null}
        >
          <Placeholder session={session} />
        </Thumbnail>
        {over && session.end_reason !== "requested" && <span className="tile-over">{endingOf(session)}</span>}
      </Link>
      {!over && <IdleWarning session={session} />}
      <div className="tile-head">
        <h2>
          <Link to={`sessions/${session.id}`} title={name}>
            {name}
          </Link>
        </h2>
        <StatusBadge session={session} />
        {over ? (
          onDismiss && <IconButton icon="close" label={`Dismiss ${name}`} className="quiet" onClick={onDismiss} />
        ) : (
          <Menu icon="more" label={`More for ${name}`}>
            {(close) => (
              <>
                <CopyButton text={session.id} what="id" />
                <CopyButton text={curlShow(session.id)} what="curl command" />
                {allows(identity.scopes, "sessions:write") && (
                  <button
                    type="button"
                    className="quiet danger-text"
                    onClick={() => {
                      close();
                      setEnding(true);
                    }}
                  >
                    <Icon name="end" /> End session
                  </button>
                )}
              </>
            )}
          </Menu>
        )}
      </div>
      <p className="tile-status" title={session.agent_status}>
        {session.agent_status || <span className="muted">{over ? session.error?.split("\n")[0] : "No status from the agent"}</span>}
      </p>
      <p className="tile-facts muted">
        {!over && (
          <span className="driver" data-human={human}>
            <Icon name={driverIcon(session)} /> {driverOf(session)}
          </span>
        )}
        <span>{session.mode === "desktop" ? "Desktop" : "Headless"}</span>
        {!over && session.mode === "desktop" && <span title="How it is used">{modeOf(session)}</span>}
        <Times session={session} over={over} />
      </p>
      {ending && <EndSession session={session} onClose={() => setEnding(false)} />}
    </li>
  );
}

function Placeholder({ session }: { session: Session }) {
  if (session.status === "starting") {
    return (
      <>
        <span className="spinner" /> Starting…
      </>
    );
  }
  if (isOver(session)) return null;
  return session.mode === "headless" ? (
    <>
      <Icon name="web" /> Open to watch its browser
    </>
  ) : (
    <span className="spinner" />
  );
}

const deadlines = {
  idle: "It ends then if it is not used",
  limit: "Time until its limit",
};

// The only part of a tile that changes every second.
function Times({ session, over }: { session: Session; over: boolean }) {
  const now = useNow();
  const deadline = shownDeadlineOf(session);
  const left = deadline && deadline.at - now;
  if (over) {
    return (
      <span className="tabular" title="When it ended">
        {session.ended_at ? `${span(now - Date.parse(session.ended_at))} ago` : "Ended"}
      </span>
    );
  }
  return (
    <>
      <span className="tabular" title="Age">
        {span(now - Date.parse(session.created_at))}
      </span>
      {deadline && left !== null && (
        <span className="tabular" data-soon={left < 60_000} title={deadlines[deadline.why]}>
          {deadline.why === "idle" ? `Idle, ${countdown(left)} left` : `${countdown(left)} left`}
        </span>
      )}
    </>
  );
}
