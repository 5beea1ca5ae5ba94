import { useCallback, useEffect, useReducer, useRef, useState, type RefObject } from "react";
import { backoff } from "../backoff";
import { isWayOut } from "./chord";
import { Connection, releaseKeys, type Settings } from "./connection";
import { changeViewer, type ViewerState } from "./state";

interface ViewerOptions extends Settings {
  /** The socket; null while there is nothing to connect to. */
  url: string | null;
  /** Called when a connection ended, whatever the reason: the time to look what became of the session. */
  onClosed?: () => void;
  /** Called when the person asked for the keyboard back. */
  onWayOut: () => void;
}

export interface Viewer {
  state: ViewerState;
  /** Takes the element where the picture goes. */
  screen: (element: HTMLDivElement | null) => void;
  /** Where the last picture stands while the connection is gone. */
  still: RefObject<HTMLCanvasElement | null>;
  /** Whether the desktop gets the keyboard now. */
  focused: boolean;
  /** What the session last put into its clipboard. */
  clipboard: string | null;
  connection: () => Connection | null;
  picture: () => HTMLCanvasElement | null;
  retry: () => void;
}

/** Keeps a connection to a session's screen alive inside an element. */
export function useViewer({ url, driving, scaling, quality, onClosed, onWayOut }: ViewerOptions): Viewer {
  const [target, setTarget] = useState<HTMLDivElement | null>(null);
  const still = useRef<HTMLCanvasElement>(null);
  const current = useRef<Connection | null>(null);
  const settings = useRef<Settings>({ driving, scaling, quality });
  const [state, change] = useReducer(changeViewer, { kind: "connecting" });
  const [round, startRound] = useReducer((count: number) => count + 1, 0);
  const [focused, setFocused] = useState(false);
  const [clipboard, setClipboard] = useState<string | null>(null);

  const closed = useRef(onClosed);
  closed.current = onClosed;
  const wayOut = useRef(onWayOut);
  wayOut.current = onWayOut;

  useEffect(() => {
    settings.current = { driving, scaling, quality };
    current.current?.apply(settings.current);
  }, [driving, scaling, quality]);

  useEffect(() => {
    if (target === null || url === null) return;
    change({ kind: "start" });
    const connection = new Connection(target, url, settings.current, {
      connected: () => change({ kind: "connected" }),
      closed: (closing) => {
        keepStill(still.current, connection.still());
        current.current = null;
        setFocused(false);
        change({ kind: "closed", closing });
        closed.current?.();
      },
      clipboard: setClipboard,
    });
    current.current = connection;
    return () => {
      if (current.current === connection) connection.close();
      current.current = null;
    };
  }, [target, url, round]);

  useEffect(() => {
    if (state.kind !== "reconnecting") return;
    const timer = window.setTimeout(startRound, backoff(state.attempt));
    // A machine that just woke up or found its network need not wait.
    window.addEventListener("online", startRound);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener("online", startRound);
    };
  }, [state]);

  useEffect(() => {
    if (target === null) return;
    const watchKeys = (event: KeyboardEvent) => {
      if (!settings.current.driving || !isWayOut(event)) return;
      event.preventDefault();
      event.stopPropagation();
      current.current?.blur();
      wayOut.current();
    };
    const gain = () => setFocused(true);
    const lose = () => {
      setFocused(false);
      releaseKeys();
    };
    // Before noVNC, which listens on the canvas inside and lets no key through.
    target.addEventListener("keydown", watchKeys, { capture: true });
    target.addEventListener("focusin", gain);
    target.addEventListener("focusout", lose);
    return () => {
      target.removeEventListener("keydown", watchKeys, { capture: true });
      target.removeEventListener("focusin", gain);
      target.removeEventListener("focusout", lose);
    };
  }, [target]);

  const connection = useCallback(() => current.current, []);
  const picture = useCallback(() => current.current?.canvas ?? null, []);
  return { state, screen: setTarget, still, focused, clipboard, connection, picture, retry: startRound };
}

function keepStill(canvas: HTMLCanvasElement | null, picture: ImageData | null): void {
  if (canvas === null || picture === null) return;
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.getContext("2d")?.putImageData(picture, 0, 0);
}
