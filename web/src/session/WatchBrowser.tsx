import { useEffect, useRef, useState } from "react";
import { client, explain } from "../api/client";
import type { Control, Session } from "../api/wire";
import { CastStage } from "../cast/CastStage";
import { SceneCard } from "../cast/SceneCard";
import { attachedBrowser, unwatchable } from "../cast/state";
import { useCast } from "../cast/useCast";
import { sentence } from "../format";
import { useSessions } from "../sessions/provider";
import { castUrl } from "../viewer/address";
import { castQuality, type Quality } from "../viewer/quality";
import { AddressBar } from "./AddressBar";
import { AgentBanner } from "./AgentBanner";
import { ControlButtons } from "./ControlButtons";
import { DriverStrip } from "./DriverStrip";
import { LeaveFullScreen, type FullScreen } from "./fullscreen";
import { PictureFrame } from "./PictureFrame";
import { lossOf } from "./loss";
import { PrivateSignIn } from "./PrivateSignIn";
import { TabStrip } from "./TabStrip";
import { TouchKeyboard } from "./TouchKeyboard";
import type { Spot } from "./trace";
import { useDriver } from "./useDriver";
import { useTake } from "./useTake";
import type { Uploads } from "./useUploads";

interface WatchBrowserProps {
  session: Session;
  /** The server has forgotten the session; its last known state is shown. */
  gone: boolean;
  /** Whether it is visible now. */
  shown: boolean;
  /** A place to point at. */
  spot: Spot | null;
  quality: Quality;
  fullScreen: FullScreen;
  uploads: Uploads;
}

/** The live browser of a session, with or without a desktop around it. */
export function WatchBrowser({ session, gone, shown, spot, quality, fullScreen, uploads }: WatchBrowserProps) {
  const driver = useDriver(session, gone);
  const { stream, retry } = useSessions();
  const { driving, onlyWatch } = driver;
  const [error, setError] = useState<string | null>(null);
  const onControl = (control: Control) => {
    setError(null);
    driver.onControl(control);
  };
  const taking = useTake({ sessionId: session.id, onError: setError, onControl });
  const [busy, setBusy] = useState(0);
  const buttons = useRef<HTMLDivElement>(null);
  const address = useRef<HTMLInputElement>(null);
  /** A new tab, until it is shown. */
  const [opened, setOpened] = useState<string | null>(null);

  const hopeless = session.browser_view?.status === "unavailable";
  const cast = useCast({
    url: driver.watchable && !hopeless ? castUrl(session.id, driver.role) : null,
    quality: castQuality(quality, window.devicePixelRatio, session.spec.cdp_stream),
    shown,
    driving,
    // If the login has expired, this leads to the login page.
    onClosed: () => void client.me().catch(() => {}),
    onWayOut: () => buttons.current?.querySelector("button")?.focus(),
    onError: (text) => setError(sentence(text)),
  });
  const { connection, focus, tabs, tab: chosen, viewed, show } = cast;
  const closed = connection.kind === "over" || connection.kind === "refused";
  const connected = connection.kind === "connected";

  const seen = useRef(shown);
  seen.current = shown;
  // Only once the stream accepts input: the strip then shows where keys go.
  const passes = driving && cast.mayDrive;
  useEffect(() => {
    if (passes && seen.current) focus();
  }, [passes, focus]);

  const refused = connection.kind === "refused";
  useEffect(() => {
    if (refused) onlyWatch();
  }, [refused, onlyWatch]);

  const attempt = async (work: () => Promise<unknown>) => {
    setError(null);
    setBusy((count) => count + 1);
    try {
      await work();
    } catch (caught) {
      setError(explain(caught));
    } finally {
      setBusy((count) => count - 1);
    }
  };
  const openTab = () =>
    attempt(async () => {
      const now = await client.tabs(session.id, "open");
      // A person who chose a tab wants to see the new one, and not follow the agent.
      const opened = now.find(({ active }) => active)?.id ?? null;
      if (chosen !== null && opened !== null) show(opened);
      setOpened(opened);
    });
  // Only then: a typed address applies to the visible tab.
  const arrived = driving && opened !== null && opened === viewed && tabs.some(({ id }) => id === opened);
  useEffect(() => {
    if (!arrived) return;
    setOpened(null);
    address.current?.focus();
  }, [arrived]);

  const viewedUrl = tabs.find(({ id }) => id === viewed)?.url ?? "";
  return (
    <>
      <DriverStrip session={session} over={driver.over || closed} driving={driving} focused={cast.focused} to="page">
        <div className="strip-buttons" ref={buttons}>
          {driver.watchable && !closed && driver.mayDrive && (
            <ControlButtons
              sessionId={session.id}
              driving={driving}
              disabled={!connected}
              taking={taking}
              onControl={onControl}
            />
          )}
          {driving && !closed && <TouchKeyboard to="page" onEdit={cast.edit} />}
          <LeaveFullScreen fullScreen={fullScreen} />
        </div>
      </DriverStrip>
      {driver.watchable && !closed && !hopeless && (
        <div className="browser-bars" data-live={connected}>
          <TabStrip
            tabs={tabs}
            shown={viewed}
            following={chosen === null}
            onShow={show}
            {...(driving && {
              onClose: (tab) => void attempt(() => client.tabs(session.id, "close", tab)),
              onOpen: () => void openTab(),
            })}
          />
          {driving && !session.attached && <PrivateSignIn session={session} url={viewedUrl} attempt={attempt} />}
          <AddressBar
            url={viewedUrl}
            driving={driving}
            busy={busy > 0}
            field={address}
            onError={setError}
            onGo={(to) => {
              if ("url" in to) focus();
              void attempt(() => client.navigate(session.id, viewed, to));
            }}
          />
        </div>
      )}
      <PictureFrame
        session={session}
        driver={driver}
        uploads={uploads}
        away={connection.kind === "reconnecting"}
        error={error}
        onDismiss={() => setError(null)}
      >
        {hopeless ? (
          <div className="stage" role="status">
            <SceneCard scene={unwatchable(session.browser_view?.reason ?? null)} />
          </div>
        ) : (
          <CastStage
            cast={{
              ...cast,
              connection: lossOf(connection, session, stream),
              retry: () => {
                if (stream === "lost") retry();
                cast.retry();
              },
            }}
            driving={driving}
            spot={spot}
            attached={attachedBrowser(session)}
            holder={driver.holder}
            onTake={driver.mayDrive ? taking.take : null}
          >
            {!driving && <AgentBanner status={session.agent_status} />}
          </CastStage>
        )}
      </PictureFrame>
    </>
  );
}
