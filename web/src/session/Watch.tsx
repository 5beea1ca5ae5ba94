import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { client } from "../api/client";
import type { Control, Point, Session } from "../api/wire";
import { SceneCard } from "../cast/SceneCard";
import { withoutLiveView } from "../cast/state";
import { useSessions } from "../sessions/provider";
import { pictureUrl } from "../viewer/address";
import type { Scaling } from "../viewer/connection";
import { keysOf } from "../viewer/keysym";
import { MarkLayer } from "../viewer/MarkLayer";
import { desktopQuality, type Quality } from "../viewer/quality";
import { SpotLayer } from "../viewer/SpotLayer";
import { Stage } from "../viewer/Stage";
import { useViewer } from "../viewer/useViewer";
import { AgentBanner } from "./AgentBanner";
import { ClipboardMenu } from "./ClipboardMenu";
import { ControlButtons } from "./ControlButtons";
import { DriverStrip } from "./DriverStrip";
import { LeaveFullScreen, type FullScreen } from "./fullscreen";
import { PictureFrame } from "./PictureFrame";
import { KeysMenu } from "./KeysMenu";
import { lossOf } from "./loss";
import { TouchKeyboard } from "./TouchKeyboard";
import type { Spot } from "./trace";
import { useDriver } from "./useDriver";
import { useTake } from "./useTake";
import type { Uploads } from "./useUploads";

interface WatchProps {
  session: Session;
  /** The server has forgotten the session; its last known state is shown. */
  gone: boolean;
  /** Whether it is visible now. */
  shown: boolean;
  scaling: Scaling;
  /** Whether only the browser's window is to be shown. */
  crop: boolean;
  /** A place to point at. */
  spot: Spot | null;
  /** Where the next action of a run will be. */
  aim: Point | null;
  quality: Quality;
  fullScreen: FullScreen;
  uploads: Uploads;
  onDriving: (driving: boolean) => void;
}

/** The live desktop of a session: view-only until control is taken. */
export function Watch(props: WatchProps) {
  const { session, gone, shown, crop, spot, aim, quality, fullScreen, uploads, onDriving } = props;
  const { subscribe, stream, retry } = useSessions();
  const driver = useDriver(session, gone);
  const { driving, onlyWatch } = driver;
  const [error, setError] = useState<string | null>(null);
  const onControl = (control: Control) => {
    setError(null);
    driver.onControl(control);
  };
  const taking = useTake({ sessionId: session.id, onError: setError, onControl });
  const buttons = useRef<HTMLDivElement>(null);

  const part = crop ? (session.browser_window ?? null) : null;
  // An attached display without the program for the live view.
  const hopeless = session.attached?.live_view === false;
  const scaling = part === null ? props.scaling : "fit";
  const viewer = useViewer({
    url: driver.watchable && !hopeless ? pictureUrl(session.id, driver.role) : null,
    driving,
    scaling,
    quality: desktopQuality[quality],
    // If the login has expired, this leads to the login page.
    onClosed: () => void client.me().catch(() => {}),
    onWayOut: () => buttons.current?.querySelector("button")?.focus(),
  });

  const { connection, picture } = viewer;
  const shownPicture = useCallback(() => {
    const canvas = picture();
    return canvas && { box: canvas.getBoundingClientRect(), width: canvas.width };
  }, [picture]);
  const aimed = useMemo(() => aim && { at: aim, hit: null, regions: [] }, [aim]);
  const closed = viewer.state.kind === "over" || viewer.state.kind === "refused";
  const seen = useRef(shown);
  seen.current = shown;
  useEffect(() => {
    onDriving(driving);
    if (driving && seen.current) connection()?.focus();
  }, [driving, connection, onDriving]);

  const refused = viewer.state.kind === "refused";
  useEffect(() => {
    if (refused) onlyWatch();
  }, [refused, onlyWatch]);

  return (
    <>
      <DriverStrip session={session} over={driver.over || closed} driving={driving} focused={viewer.focused}>
        <div className="strip-buttons" ref={buttons}>
          {driver.watchable && !closed && driver.mayDrive && (
            <ControlButtons
              sessionId={session.id}
              driving={driving}
              disabled={viewer.state.kind !== "connected"}
              taking={taking}
              onControl={onControl}
            />
          )}
          {driving && !closed && (
            <>
              <TouchKeyboard
                to="desktop"
                onEdit={(edit) => {
                  for (const key of keysOf(edit)) connection()?.press([key]);
                }}
              />
              <KeysMenu connection={connection} />
              <ClipboardMenu connection={connection} received={viewer.clipboard} />
            </>
          )}
          <LeaveFullScreen fullScreen={fullScreen} />
        </div>
      </DriverStrip>
      <PictureFrame
        session={session}
        driver={driver}
        uploads={uploads}
        away={viewer.state.kind === "reconnecting"}
        error={error}
        onDismiss={() => setError(null)}
      >
        {hopeless ? (
          <div className="stage" role="status">
            <SceneCard scene={withoutLiveView} />
          </div>
        ) : (
          <Stage
            viewer={{
              ...viewer,
              state: lossOf(viewer.state, session, stream),
              retry: () => {
                if (stream === "lost") retry();
                viewer.retry();
              },
            }}
            driving={driving}
            scaling={scaling}
            part={part}
            holder={driver.holder}
            onTake={driver.mayDrive ? taking.take : null}
            marks={
              <>
                <MarkLayer sessionId={session.id} subscribe={subscribe} picture={picture} />
                <SpotLayer spot={spot} shown={shownPicture} />
                <SpotLayer kind="aim" spot={aimed} shown={shownPicture} />
              </>
            }
          >
            {!driving && <AgentBanner status={session.agent_status} />}
          </Stage>
        )}
      </PictureFrame>
    </>
  );
}
