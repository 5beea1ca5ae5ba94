import { useEffect, useRef, useState, type RefObject } from "react";
import { allows, client } from "../api/client";
import type { Control, Role, Session } from "../api/wire";
import { useIdentity } from "../identity";
import { useSessions } from "../sessions/provider";
import { isOver } from "../sessions/state";
import { IconButton } from "../ui/IconButton";
import { pictureUrl } from "../viewer/address";
import type { Scaling } from "../viewer/connection";
import { MarkLayer } from "../viewer/MarkLayer";
import { Stage } from "../viewer/Stage";
import { useViewer } from "../viewer/useViewer";
import { AgentBanner } from "./AgentBanner";
import { ClipboardMenu } from "./ClipboardMenu";
import { ControlButtons } from "./ControlButtons";
import { DriverStrip } from "./DriverStrip";
import { useDrop } from "./drop";
import { DropHere } from "./DropHere";
import { Ending } from "./Ending";
import { KeysMenu } from "./KeysMenu";
import { TouchKeyboard } from "./TouchKeyboard";
import { UploadTray } from "./UploadTray";
import type { Uploads } from "./useUploads";

interface WatchProps {
  session: Session;
  /** The server has forgotten the session; what is shown is the last that was known. */
  gone: boolean;
  scaling: Scaling;
  quality: number;
  /** The part of the page that can fill the whole screen. */
  theatre: RefObject<HTMLDivElement | null>;
  fullScreen: { active: boolean; toggle: () => void };
  uploads: Uploads;
  onDriving: (driving: boolean) => void;
}

/** The live desktop of a session: watched by default, driven once control was taken. */
export function Watch(props: WatchProps) {
  const { session, gone, scaling, quality, theatre, fullScreen, uploads, onDriving } = props;
  const { scopes } = useIdentity();
  const { subscribe, note } = useSessions();
  const mayDrive = allows(scopes, "sessions:act");
  // Already watching in the role of a driver makes taking control a matter of one request.
  const [role, setRole] = useState<Role>(mayDrive ? "control" : "view");
  const [error, setError] = useState<string | null>(null);
  const buttons = useRef<HTMLDivElement>(null);

  const over = gone || isOver(session);
  const watchable = !over && session.status !== "starting";
  const driving = watchable && role === "control" && session.control.driver === "human" && session.control.yours;

  // Whoever drives: a file that is put there disturbs nobody.
  const drop = useDrop((dropped) => uploads.put("Desktop", dropped), watchable && mayDrive);

  const viewer = useViewer({
    url: watchable ? pictureUrl(session.id, role) : null,
    driving,
    scaling,
    quality,
    // Whoever was signed out meanwhile is sent to the login page.
    onClosed: () => void client.me().catch(() => {}),
    onWayOut: () => buttons.current?.querySelector("button")?.focus(),
  });

  const { connection } = viewer;
  const closed = viewer.state.kind === "over" || viewer.state.kind === "refused";
  useEffect(() => {
    onDriving(driving);
    if (driving) connection()?.focus();
  }, [driving, connection, onDriving]);

  const refused = viewer.state.kind === "refused";
  useEffect(() => {
    if (refused) setRole("view");
  }, [refused]);

  const onControl = (control: Control) => {
    setError(null);
    note({ kind: "control", sessionId: session.id, control });
  };

  return (
    <div className="theatre" ref={theatre}>
      <DriverStrip session={session} over={over || closed} driving={driving} focused={viewer.focused}>
        <div className="strip-buttons" ref={buttons}>
          {watchable && !closed && mayDrive && (
            <ControlButtons
              sessionId={session.id}
              driving={driving}
              disabled={viewer.state.kind !== "connected"}
              onError={setError}
              onControl={onControl}
            />
          )}
          {driving && !closed && (
            <>
              <TouchKeyboard connection={connection} />
              <KeysMenu connection={connection} />
              <ClipboardMenu connection={connection} received={viewer.clipboard} />
            </>
          )}
          {fullScreen.active && (
            <IconButton icon="close" label="Leave full screen" onClick={fullScreen.toggle} />
          )}
        </div>
      </DriverStrip>
      {error && (
        <p className="banner" role="alert">
          {error}
          <IconButton icon="close" label="Dismiss" className="quiet" onClick={() => setError(null)} />
        </p>
      )}
      <div className="house" {...drop.listeners}>
        {over ? (
          <div className="stage">
            <Ending session={session} />
          </div>
        ) : session.status === "starting" ? (
          <div className="stage">
            <p className="card" role="status">
              <span className="spinner" /> The session is starting…
            </p>
          </div>
        ) : (
          <Stage viewer={viewer} driving={driving} scaling={scaling}>
            <MarkLayer sessionId={session.id} subscribe={subscribe} picture={viewer.picture} />
            {!driving && <AgentBanner status={session.agent_status} />}
          </Stage>
        )}
        <UploadTray uploads={uploads} />
        {drop.over && <DropHere text="Drop to put on the desktop" hint="in the folder Desktop of the session's home" />}
      </div>
    </div>
  );
}
