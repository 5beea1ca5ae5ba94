import { useRef, type ReactNode, type RefObject } from "react";
import { page } from "../prefix";
import { useFullScreen } from "../session/fullscreen";
import { driverIcon, driverOf } from "../sessions/name";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { KeyboardHint } from "../viewer/KeyboardHint";
import type { ViewerState } from "../viewer/state";
import type { SharedLink } from "./useLink";

interface LinkFrameProps {
  link: SharedLink;
  state: ViewerState;
  driving: boolean;
  /** Whether the picture has the keyboard. */
  focused: boolean;
  /** What receives the keys then. */
  to: string;
  /** The element that gets the focus when the person wants the keyboard back. */
  button: RefObject<HTMLButtonElement | null>;
  /** More buttons in the strip. */
  more?: ReactNode;
  /** The picture. */
  children: ReactNode;
}

/** The frame around a picture opened with a link: one line that shows who has control. */
export function LinkFrame({ link, state, driving, focused, to, button, more, children }: LinkFrameProps) {
  const { address, session, started, take, holder } = link;
  const theatre = useRef<HTMLDivElement>(null);
  const fullScreen = useFullScreen(theatre);
  const connected = state.kind === "connected";
  return (
    <main className="stand-alone theatre" ref={theatre}>
      <div className="strip" data-driving={driving}>
        {session && connected && <Icon name={driverIcon(session)} />}
        <span className="strip-text" role="status">
          {!driving && connected && ["You are watching", session && driverOf(session)].filter(Boolean).join(" · ")}
          {driving && (
            <>
              <b>You are driving.</b> <KeyboardHint focused={focused} to={to} />
            </>
          )}
        </span>
        <div className="strip-buttons">
          {address.mayControl && started && state.kind !== "refused" && state.kind !== "over" && (
            <button
              ref={button}
              type="button"
              className="primary"
              disabled={holder !== null}
              onClick={() => link.setTake(!take)}
            >
              <Icon name="hand" /> {take ? "Hand back" : "Take control"}
            </button>
          )}
          {more}
          <IconButton
            icon={fullScreen.active ? "close" : "full"}
            label={fullScreen.active ? "Leave full screen" : "Full screen"}
            onClick={fullScreen.toggle}
          />
        </div>
      </div>
      {started ? (
        children
      ) : (
        <div className="stage">
          <div className="card">
            <button type="button" className="primary" onClick={link.start}>
              Connect
            </button>
          </div>
        </div>
      )}
    </main>
  );
}

/** What a person with a link can do without a picture. */
export function waysOn(sessionId: string) {
  return {
    whenRefused: (
      <a className="button" href={page(`sessions/${sessionId}`)}>
        Log in
      </a>
    ),
    whenOver: <p className="muted">To see another session, ask the person who gave you the link.</p>,
  };
}
