import { useCallback, useEffect, useRef, useState } from "react";
import { allows, ApiError, client, explain } from "../api/client";
import type { Session } from "../api/wire";
import { Question } from "../ask/Question";
import { useAsk } from "../ask/useAsk";
import { blockedBecause } from "../cast/state";
import { useIdentity } from "../identity";
import { Link } from "../router";
import { useNoStrayDrops } from "../session/drop";
import { CropButton } from "../session/CropButton";
import { EndSession } from "../session/EndSession";
import { useFullScreen } from "../session/fullscreen";
import { MoreMenu } from "../session/MoreMenu";
import { Panel } from "../session/Panel";
import { QualityMenu } from "../session/QualityMenu";
import { ScalingButtons } from "../session/ScalingButtons";
import { Share } from "../session/Share";
import { ViewSwitcher, type View } from "../session/ViewSwitcher";
import { Toolbar } from "../session/Toolbar";
import type { Spot } from "../session/trace";
import { useUploads } from "../session/useUploads";
import { Watch } from "../session/Watch";
import { WatchBrowser } from "../session/WatchBrowser";
import { WatchTerminal } from "../session/WatchTerminal";
import { nameOf, sentenceOf } from "../sessions/name";
import { useSessions } from "../sessions/provider";
import { ended, type End } from "../sessions/end";
import { isOver } from "../sessions/state";
import { IconButton } from "../ui/IconButton";
import { isShort, useSmall } from "../ui/media";
import type { Scaling } from "../viewer/connection";
import type { Quality } from "../viewer/quality";

/** One session: its picture, and everything around it. */
export function SessionPage({ id }: { id: string }) {
  const { session, gone, missing } = useSession(id);
  const { scopes } = useIdentity();
  const small = useSmall();
  // A phone in portrait has room below the picture; in landscape it has none beside it.
  const [panel, setPanel] = useState(() => !isShort());
  const [ending, setEnding] = useState(false);
  const [scaling, setScaling] = useState<Scaling>("fit");
  const [crop, setCrop] = useState(false);
  const [quality, setQuality] = useState<Quality>("balanced");
  const [chosen, setView] = useState<View | null>(null);
  const [driving, setDriving] = useState(false);
  /** The place that a person looks at in the trace. */
  const [spot, setSpot] = useState<Spot | null>(null);
  const theatre = useRef<HTMLDivElement>(null);
  const fullScreen = useFullScreen(theatre);
  const uploads = useUploads(id);
  const runs = session?.mode === "desktop" && session.status === "running" && !gone && allows(scopes, "sessions:act");
  const ask = useAsk(id, runs);
  useNoStrayDrops();

  const title = session ? nameOf(session) : id;
  useEffect(() => {
    document.title = `${title} · helmdeck`;
  }, [title]);

  const onDriving = useCallback((now: boolean) => {
    setDriving(now);
    // Only the person in control may resize the session's screen.
    if (!now) setScaling((old) => (old === "remote" ? "fit" : old));
  }, []);

  if (session === null) return <Missing text={missing} />;

  const desktop = session.mode === "desktop";
  const over = gone || isOver(session);
  const browserWindow = session.browser_window ?? null;
  const [mayAct, mayEnd] = [allows(scopes, "sessions:act"), allows(scopes, "sessions:write")];
  const resize = (size: Scaling) => {
    // Sizes apply to the whole screen.
    setCrop(false);
    setScaling(size);
  };
  const common = { session, gone, quality, fullScreen, uploads };
  const desktopView = {
    name: "Desktop" as const,
    show: (shown: boolean) => (
      <Watch {...common} shown={shown} scaling={scaling} crop={crop} spot={spot} aim={ask.aim} onDriving={onDriving} />
    ),
  };
  const browserView = {
    name: "Browser" as const,
    blocked: over ? undefined : blockedBecause(session.browser_view?.status, session.browser_view?.reason),
    // Of a desktop, places are those of the whole screen.
    show: (shown: boolean) => <WatchBrowser {...common} shown={shown} spot={desktop ? null : spot} />,
  };
  const terminalView = {
    name: "Terminal" as const,
    ends: true,
    show: () => <WatchTerminal session={session} gone={gone} fullScreen={fullScreen} uploads={uploads} />,
  };
  // An ended session has only its last picture. A shell of an attached session would run on its owner's machine.
  const pictures = !desktop ? [browserView] : over ? [desktopView] : [desktopView, browserView];
  const views = over || !mayAct || session.attached ? pictures : [...pictures, terminalView];
  const view = views.find(({ name }) => name === chosen)?.name ?? (desktop ? "Desktop" : "Browser");
  return (
    <div className="session-page">
      <Toolbar session={session}>
        {!over && !small && (
          <>
            {view === "Desktop" && (
              <>
                <ScalingButtons
                  scaling={crop && browserWindow !== null ? null : scaling}
                  driving={driving}
                  fixed={Boolean(session.attached)}
                  onChange={resize}
                />
                <CropButton wanted={crop} possible={browserWindow !== null} onChange={setCrop} />
              </>
            )}
            {view !== "Terminal" && <QualityMenu quality={quality} onChange={setQuality} />}
            <IconButton icon="full" label="Full screen" onClick={fullScreen.toggle} />
          </>
        )}
        {!over && mayAct && <Share sessionId={session.id} />}
        {!over && small && (
          <MoreMenu
            size={
              view !== "Desktop"
                ? null
                : {
                    scaling,
                    onScaling: resize,
                    driving,
                    fixed: Boolean(session.attached),
                    crop,
                    onCrop: setCrop,
                    croppable: browserWindow !== null,
                  }
            }
            quality={view === "Terminal" ? null : quality}
            onQuality={setQuality}
            fullScreen={fullScreen}
            onEnd={mayEnd ? () => setEnding(true) : null}
          />
        )}
        {!over && !small && mayEnd && (
          <IconButton
            icon="end"
            label="End session"
            text="End"
            className="danger-text"
            onClick={() => setEnding(true)}
          />
        )}
        <IconButton
          icon="panel"
          label={panel ? "Hide the panel" : "Show the panel"}
          text="Panel"
          aria-expanded={panel}
          onClick={() => setPanel(!panel)}
        />
      </Toolbar>
      <main className="session-body" data-panel={panel}>
        <ViewSwitcher
          element={theatre}
          views={views}
          view={view}
          onView={setView}
          notice={<Question question={ask.question} onAnswer={over ? null : ask.answer} />}
        />
        {/* Hidden, not unmounted: it keeps its tab and scroll position. */}
        <div className="panel-slot" hidden={!panel}>
          <Panel session={session} over={over} gone={gone} uploads={uploads} ask={ask} onSpot={setSpot} />
        </div>
      </main>
      {ending && <EndSession session={session} onClose={() => setEnding(false)} />}
    </div>
  );
}

interface Found {
  session: Session | null;
  /** The server no longer knows a session that was shown. */
  gone: boolean;
  /** Why there is no session to show; null while unknown. */
  missing: string | null;
}

/** The session from the event stream; in its last state once it is gone. */
function useSession(id: string): Found {
  const { list, error, subscribe } = useSessions();
  const live = list?.find((session) => session.id === id);
  const [last, setLast] = useState<Session | null>(null);
  const [missing, setMissing] = useState<string | null>(null);
  const [end, setEnd] = useState<End | null>(null);
  if (live !== undefined && live !== last) {
    setLast(live);
    setEnd(null);
  }

  useEffect(
    () => subscribe((event) => event.kind === "session_gone" && event.id === id && setEnd(event.end)),
    [subscribe, id],
  );

  // A session that is not in the list may still be known to the server.
  const unknown = list !== null && live === undefined && last === null;
  useEffect(() => {
    if (!unknown) return;
    // Most likely it has ended.
    const found = client.endedSession(id).catch(() => client.session(id));
    found.then(setLast, (error: unknown) => {
      const none = error instanceof ApiError && error.status === 404;
      const why = none && sentenceOf(error.body.end_reason);
      if (why) setMissing(`The session is over. ${why}`);
      else setMissing(none ? "There is no such session, or it is not yours." : explain(error));
    });
  }, [unknown, id]);

  const gone = list !== null && live === undefined && last !== null;
  // The server keeps the reason and the last picture.
  useEffect(() => {
    if (!gone) return;
    client.endedSession(id).then(setLast, () => {});
  }, [gone, id]);

  const session = live ?? (gone ? ended(last, end) : last);
  return { session, gone, missing: missing ?? error };
}

function Missing({ text }: { text: string | null }) {
  return (
    <main className="center-page">
      {text === null ? (
        <span className="spinner" role="status" aria-label="Loading" />
      ) : (
        <div className="card">
          <p role="alert">{text}</p>
          <Link className="button" to="">
            All sessions
          </Link>
        </div>
      )}
    </main>
  );
}
