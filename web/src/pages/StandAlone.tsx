import { useEffect, useReducer, useRef, useState } from "react";
import type { Session } from "../api/wire";
import { EventStream } from "../events/stream";
import { api, page } from "../prefix";
import { AgentBanner } from "../session/AgentBanner";
import { useFullScreen } from "../session/fullscreen";
import { driverIcon, driverOf, endingOf } from "../sessions/name";
import { changeSessions, isOver, noSessions } from "../sessions/state";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { taking, type ViewerAddress } from "../viewer/address";
import type { Scaling } from "../viewer/connection";
import { KeyboardHint } from "../viewer/KeyboardHint";
import { Stage } from "../viewer/Stage";
import { useViewer, type Viewer } from "../viewer/useViewer";

const scalings: Record<ViewerAddress["resize"], Scaling> = { scale: "fit", remote: "remote", off: "actual" };

/** The picture of one session and nothing else, for whoever has a link. */
export function StandAlone({ address }: { address: ViewerAddress | null }) {
  if (address === null) {
    return (
      <main className="center-page">
        <div className="card">
          <p role="alert">This link does not lead to a session.</p>
          <a className="button" href={page("")}>
            Log in
          </a>
        </div>
      </main>
    );
  }
  return <Picture address={address} />;
}

function Picture({ address }: { address: ViewerAddress }) {
  const [started, setStarted] = useState(address.autoconnect);
  // A ticket takes control and hands it back by how it connects.
  const [take, setTake] = useState(false);
  const session = useSession(address);
  const theatre = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const fullScreen = useFullScreen(theatre);
  const scaling = scalings[address.resize];

  // A socket that does not open cannot tell why; the session can.
  const over = session && isOver(session) ? `The session is over. ${endingOf(session)}` : null;
  const watched = useViewer({
    url: started && over === null ? taking(address.url, take) : null,
    driving: take,
    scaling: scaling === "remote" && !take ? "fit" : scaling,
    quality: 6,
    onWayOut: () => button.current?.focus(),
  });
  const viewer: Viewer = over === null ? watched : { ...watched, state: { kind: "over", text: over } };
  const { state, connection } = viewer;
  const connected = state.kind === "connected";
  const driving = take && connected;
  const taken = session?.control.driver === "human" && !session.control.yours;
  useEffect(() => {
    if (driving) connection()?.focus();
  }, [driving, connection]);
  // Whoever lost control to another person goes on watching.
  useEffect(() => {
    if (taken) setTake(false);
  }, [taken]);

  return (
    <main className="stand-alone theatre" ref={theatre}>
      <div className="strip" data-driving={driving}>
        {session && connected && <Icon name={driverIcon(session)} />}
        <span className="strip-text" role="status">
          {!driving && connected && ["You are watching", session && driverOf(session)].filter(Boolean).join(" · ")}
          {driving && (
            <>
              <b>You are driving.</b> <KeyboardHint focused={viewer.focused} />
            </>
          )}
        </span>
        <div className="strip-buttons">
          {address.mayControl && started && state.kind !== "refused" && state.kind !== "over" && (
            <button ref={button} type="button" className="primary" disabled={taken} onClick={() => setTake(!take)}>
              <Icon name="hand" /> {take ? "Hand back" : "Take control"}
            </button>
          )}
          {fullScreen.possible && (
            <IconButton
              icon={fullScreen.active ? "close" : "full"}
              label={fullScreen.active ? "Leave full screen" : "Full screen"}
              onClick={fullScreen.toggle}
            />
          )}
        </div>
      </div>
      {started ? (
        <Stage
          viewer={viewer}
          driving={driving}
          scaling={scaling}
          whenRefused={<LogIn id={address.sessionId} />}
          whenOver={<p className="muted">To see another one, ask whoever gave you the link.</p>}
        >
          {!driving && <AgentBanner status={session?.agent_status ?? ""} />}
        </Stage>
      ) : (
        <div className="stage">
          <div className="card">
            <button type="button" className="primary" onClick={() => setStarted(true)}>
              Connect
            </button>
          </div>
        </div>
      )}
    </main>
  );
}

function LogIn({ id }: { id: string }) {
  return (
    <a className="button" href={page(`sessions/${id}`)}>
      Log in
    </a>
  );
}

/** The session, as far as the link lets us hear of it. */
function useSession({ sessionId, ticket }: ViewerAddress): Session | null {
  const [sessions, change] = useReducer(changeSessions, noSessions);
  useEffect(() => {
    const query = new URLSearchParams({ session_id: sessionId, ...(ticket === null ? {} : { ticket }) });
    const stream = new EventStream(api(`events?${query}`), {
      event: (event) => {
        change({ kind: "event", event });
        // A new stream begins with the session as it is.
        if (event.kind === "reset") stream.retry();
      },
      state: () => {},
      // Not for this ticket: the picture works without.
      refused: () => stream.close(),
    });
    return () => stream.close();
  }, [sessionId, ticket]);
  return sessions.list?.find(({ id }) => id === sessionId) ?? null;
}
