import { useEffect, useState } from "react";
import { allows, client } from "../api/client";
import { count } from "../format";
import { useIdentity } from "../identity";
import { Link } from "../router";
import { useSessions } from "../sessions/provider";
import { forWall, isOver } from "../sessions/state";
import { ThumbnailsProvider } from "../thumbnails/Thumbnail";
import { Brand } from "../ui/Brand";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { ThemeButton } from "../ui/ThemeButton";
import { EmptyWall } from "../wall/EmptyWall";
import { NewSession } from "../wall/NewSession";
import { StreamBanner } from "../wall/StreamBanner";
import { Tile } from "../wall/Tile";

/** All sessions at a glance. */
export function Wall({ onLogOut }: { onLogOut: () => void }) {
  const identity = useIdentity();
  const sessions = useSessions();
  const [creating, setCreating] = useState(false);
  const shown = forWall(sessions);
  const running = shown.filter((session) => !isOver(session)).length;
  // Without the server, the banner says so.
  const failed = sessions.error !== null && sessions.stream !== "lost";
  const mayCreate = allows(identity.scopes, "sessions:write");

  useEffect(() => {
    document.title = sessions.list === null ? "helmdeck" : `${count(running, "session")} · helmdeck`;
  }, [sessions.list, running]);

  const logOut = () => void client.logOut().then(onLogOut, onLogOut);

  return (
    <div className="wall-page">
      <header className="bar">
        <h1>
          <Brand />
        </h1>
        <span className="muted tabular one-line" role="status">
          {sessions.list !== null && count(running, "session")}
        </span>
        <span className="room" />
        {mayCreate && (
          <IconButton
            icon="plus"
            label="New session"
            text="New session"
            className="primary"
            onClick={() => setCreating(true)}
          />
        )}
        <Link to="settings" className="icon-button quiet button" title="Settings" aria-label="Settings">
          <Icon name="settings" />
        </Link>
        <ThemeButton />
        <span className="muted wide-only">{identity.subject}</span>
        <IconButton icon="leave" label={`Log out ${identity.subject}`} className="quiet" onClick={logOut} />
      </header>
      <StreamBanner />
      <main>
        {sessions.list === null && !failed && (
          <div className="grid" aria-busy="true" aria-label="Loading">
            <div className="tile skeleton" />
            <div className="tile skeleton" />
            <div className="tile skeleton" />
          </div>
        )}
        {sessions.list === null && failed && (
          <div className="notice" role="alert">
            {sessions.error}
          </div>
        )}
        {sessions.list !== null && shown.length === 0 && (
          <EmptyWall mayCreate={mayCreate} onCreate={() => setCreating(true)} />
        )}
        <ThumbnailsProvider>
          <ul className="grid">
            {shown.map((session) => (
              <Tile key={session.id} session={session} onDismiss={() => sessions.dismiss(session.id)} />
            ))}
          </ul>
        </ThumbnailsProvider>
      </main>
      {creating && <NewSession onClose={() => setCreating(false)} />}
    </div>
  );
}
