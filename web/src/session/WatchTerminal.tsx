import { lazy, Suspense, useRef, useState } from "react";
import { client } from "../api/client";
import type { Control, Session } from "../api/wire";
import { Icon } from "../ui/Icon";
import { KeyboardHint } from "../viewer/KeyboardHint";
import { ControlButtons } from "./ControlButtons";
import { LeaveFullScreen, type FullScreen } from "./fullscreen";
import { PictureFrame } from "./PictureFrame";
import { useDriver } from "./useDriver";
import { useTake } from "./useTake";
import type { Uploads } from "./useUploads";

// Loaded on demand: most people never open one.
const TerminalStage = lazy(() => import("../terminal/TerminalStage"));

interface WatchTerminalProps {
  session: Session;
  /** The server has forgotten the session; its last known state is shown. */
  gone: boolean;
  fullScreen: FullScreen;
  uploads: Uploads;
}

/** A shell in a session. Unlike the pictures, it ends when it is left. */
export function WatchTerminal({ session, gone, fullScreen, uploads }: WatchTerminalProps) {
  const driver = useDriver(session, gone);
  const { driving, holder } = driver;
  const [error, setError] = useState<string | null>(null);
  const [focused, setFocused] = useState(false);
  const onControl = (control: Control) => {
    setError(null);
    driver.onControl(control);
  };
  const taking = useTake({ sessionId: session.id, onError: setError, onControl });
  const buttons = useRef<HTMLDivElement>(null);

  return (
    <>
      <div className="strip" data-driving={driving} data-human={holder !== null}>
        <Icon name="terminal" />
        <span className="strip-text" role="status">
          {driving && <b>You are driving. </b>}
          {holder !== null && <b>{holder} is driving by hand. </b>}
          The shell ends when you leave this tab. {focused && <KeyboardHint focused to="terminal" />}
        </span>
        <div className="strip-buttons" ref={buttons}>
          <ControlButtons
            sessionId={session.id}
            driving={driving}
            disabled={!driver.watchable}
            taking={taking}
            onControl={onControl}
          />
          <LeaveFullScreen fullScreen={fullScreen} />
        </div>
      </div>
      <PictureFrame
        session={session}
        driver={driver}
        uploads={uploads}
        away={false}
        error={error}
        onDismiss={() => setError(null)}
      >
        <Suspense fallback={<div className="stage" />}>
          <TerminalStage
            sessionId={session.id}
            holder={holder}
            onFocus={setFocused}
            onWayOut={() => buttons.current?.querySelector("button")?.focus()}
            // If the login has expired, this leads to the login page.
            onClosed={() => void client.me().catch(() => {})}
          />
        </Suspense>
      </PictureFrame>
    </>
  );
}
