import { useEffect, useState, type ReactNode } from "react";
import { allows } from "../api/client";
import type { Session } from "../api/wire";
import { count } from "../format";
import { useIdentity } from "../identity";
import { navigate } from "../router";
import { useSessions } from "../sessions/provider";
import { forWall, isOver, matches } from "../sessions/state";
import { ThumbnailsProvider } from "../thumbnails/Thumbnail";
import { AppBar } from "../ui/AppBar";
import { IconButton } from "../ui/IconButton";
import { EmptyWall } from "../wall/EmptyWall";
import { NewSession } from "../wall/NewSession";
import { StreamBanner } from "../wall/StreamBanner";
import { Tile } from "../wall/Tile";
import { useRecent } from "../wall/useRecent";
import { shownBy, WallBar, type Shown } from "../wall/WallBar";

/** An overview of all sessions. */
export function Wall({ onLogOut }: { onLogOut: () => void }) {
  const identity = useIdentity();
  const sessions = useSessions();
  const [creating, setCreating] = useState(false);
  const [shown, setShown] = useState<Shown>(() => shownBy(window.location.search));
  const [wanted, setWanted] = useState("");
  const recent = useRecent(shown === "recent");
  const live = forWall(sessions);
  const running = live.filter((session) => !isOver(session)).length;
  const mayCreate = allows(identity.scopes, "sessions:write");

  useEffect(() => {
    document.title = sessions.list === null ? "helmdeck" : `${count(running, "session")} · helmdeck`;
  }, [sessions.list, running]);

  const show = (next: Shown) => {
    setShown(next);
    // In the address, so that returning from a session restores it.
    navigate(next === "recent" ? "?view=recent" : "", true);
  };

  return (
    <div className="wall-page">
      <AppBar current="wall" onLogOut={onLogOut}>
        <span className="room" />
        <span className="muted tabular one-line" role="status">
          {sessions.list !== null && count(running, "session")}
        </span>
        {mayCreate && (
          <IconButton
            icon="plus"
            label="New session"
            text="New session"
            className="primary"
            onClick={() => setCreating(true)}
          />
        )}
      </AppBar>
      <StreamBanner />
      <main>
        <WallBar shown={shown} onShow={show} wanted={wanted} onWant={setWanted} />
        {shown === "live" ? (
          <Tiles
            sessions={sessions.list === null ? null : live}
            // Without the server, the banner shows the error.
            error={sessions.stream === "lost" ? null : sessions.error}
            wanted={wanted}
            onDismiss={sessions.dismiss}
          >
            <EmptyWall mayCreate={mayCreate} onCreate={() => setCreating(true)} />
          </Tiles>
        ) : (
          <Tiles {...recent} wanted={wanted}>
            <section className="empty">
              <h2>No session has ended yet</h2>
              <p className="muted">Sessions that end are listed here with their history and last picture.</p>
            </section>
          </Tiles>
        )}
      </main>
      {creating && (
        <NewSession onCreated={({ id }) => navigate(`sessions/${id}`)} onClose={() => setCreating(false)} />
      )}
    </div>
  );
}

interface TilesProps {
  /** Null until loaded. */
  sessions: Session[] | null;
  /** Why they could not be loaded. */
  error: string | null;
  wanted: string;
  onDismiss?: (id: string) => void;
  /** Shown if there are none. */
  children: ReactNode;
}

function Tiles({ sessions, error, wanted, onDismiss, children }: TilesProps) {
  if (sessions === null) {
    return error === null ? (
      <div className="grid" aria-busy="true" aria-label="Loading">
        <div className="tile skeleton" />
        <div className="tile skeleton" />
        <div className="tile skeleton" />
      </div>
    ) : (
      <div className="notice" role="alert">
        {error}
      </div>
    );
  }
  if (sessions.length === 0) return children;
  const found = sessions.filter((session) => matches(session, wanted));
  return (
    <>
      <p className="muted" role="status">
        {found.length === 0 && `No session matches “${wanted}”.`}
      </p>
      <ThumbnailsProvider>
        <ul className="grid">
          {found.map((session) => (
            <Tile key={session.id} session={session} {...(onDismiss && { onDismiss: () => onDismiss(session.id) })} />
          ))}
        </ul>
      </ThumbnailsProvider>
    </>
  );
}
