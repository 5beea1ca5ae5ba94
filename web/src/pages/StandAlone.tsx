import { useEffect, useRef, useState } from "react";
import { EventStream } from "../events/stream";
import { api, page } from "../prefix";
import { AgentBanner } from "../session/AgentBanner";
import { useFullScreen } from "../session/fullscreen";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { taking, type ViewerAddress } from "../viewer/address";
import type { Scaling } from "../viewer/connection";
import { KeyboardHint } from "../viewer/KeyboardHint";
import { Stage } from "../viewer/Stage";
import { useViewer } from "../viewer/useViewer";

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
  // Control lasts as long as the connection that took it: to take it or hand it back is to reconnect.
  const [take, setTake] = useState(false);
  const status = useAgentStatus(address);
  const theatre = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const fullScreen = useFullScreen(theatre);
  const scaling = scalings[address.resize];

  const viewer = useViewer({
    url: started ? taking(address.url, take) : null,
    driving: take,
    scaling: scaling === "remote" && !take ? "fit" : scaling,
    quality: 6,
    onWayOut: () => button.current?.focus(),
  });
  const { state, connection } = viewer;
  const driving = take && state.kind === "connected";
  useEffect(() => {
    if (driving) connection()?.focus();
  }, [driving, connection]);

  return (
    <main className="stand-alone theatre" ref={theatre}>
      <div className="strip" data-driving={driving}>
        <span className="strip-text" role="status">
          {!driving && state.kind === "connected" && "You are watching"}
          {driving && (
            <>
              <b>You are driving.</b> <KeyboardHint focused={viewer.focused} />
            </>
          )}
        </span>
        <div className="strip-buttons">
          {address.mayControl && started && state.kind !== "refused" && state.kind !== "over" && (
            <button ref={button} type="button" className="primary" onClick={() => setTake(!take)}>
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
        <Stage viewer={viewer} driving={driving} scaling={scaling} whenRefused={<LogIn id={address.sessionId} />}>
          {!driving && <AgentBanner status={status} />}
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

/** What the agent says, as far as the link lets us hear it. */
function useAgentStatus({ sessionId, ticket }: ViewerAddress): string {
  const [status, setStatus] = useState("");
  useEffect(() => {
    const query = new URLSearchParams({ session_id: sessionId, ...(ticket === null ? {} : { ticket }) });
    const stream = new EventStream(api(`events?${query}`), {
      event: (event) => {
        if (event.kind === "session") setStatus(event.session.agent_status);
        if (event.kind === "agent_status") setStatus(event.status);
      },
      state: () => {},
      // Not for this ticket: the picture works without.
      refused: () => stream.close(),
    });
    return () => stream.close();
  }, [sessionId, ticket]);
  return status;
}
