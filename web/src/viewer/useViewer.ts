import { useCallback, useEffect, useRef, useState, type RefObject } from "react";
import { isWayOut } from "./chord";
import { Connection, releaseKeys, type Settings } from "./connection";
import type { Size } from "./crop";
import { useScreenSize } from "./size";
import type { ViewerState } from "./state";
import { useConnection } from "./useConnection";

interface ViewerOptions extends Settings {
  /** The socket; null while there is nothing to connect to. */
  url: string | null;
  /** Called when a connection ended, for any reason, to check the state of the session. */
  onClosed?: () => void;
  /** Called when the person wants the keyboard back. */
  onWayOut: () => void;
}

export interface Viewer {
  state: ViewerState;
  /** Ref of the element for the picture. */
  screen: (element: HTMLDivElement | null) => void;
  /** The canvas for the last picture, shown while disconnected. */
  still: RefObject<HTMLCanvasElement | null>;
  /** The size of the session's screen; null before its first picture. */
  size: Size | null;
  /** Whether the desktop has the keyboard. */
  focused: boolean;
  /** The text that the session last copied. */
  clipboard: string | null;
  connection: () => Connection | null;
  picture: () => HTMLCanvasElement | null;
  retry: () => void;
}

/** Keeps a connection to a session's screen alive inside an element. */
export function useViewer({ url, driving, scaling, quality, onClosed, onWayOut }: ViewerOptions): Viewer {
  const [target, setTarget] = useState<HTMLDivElement | null>(null);
  const still = useRef<HTMLCanvasElement>(null);
  const size = useScreenSize(target);
  const settings = useRef<Settings>({ driving, scaling, quality });
  const [focused, setFocused] = useState(false);
  const [clipboard, setClipboard] = useState<string | null>(null);

  const wayOut = useRef(onWayOut);
  wayOut.current = onWayOut;

  const { state, current, retry } = useConnection(target, url, (element, address, { connected, closed }) => {
    const connection: Connection = new Connection(element, address, settings.current, {
      connected,
      closed: (closing) => {
        keepStill(still.current, connection.still());
        setFocused(false);
        closed(closing);
        onClosed?.();
      },
      clipboard: setClipboard,
    });
    return connection;
  });

  useEffect(() => {
    settings.current = { driving, scaling, quality };
    current.current?.apply(settings.current);
  }, [current, driving, scaling, quality]);

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
    // Before noVNC, which listens on the canvas inside and stops all keys.
    target.addEventListener("keydown", watchKeys, { capture: true });
    target.addEventListener("focusin", gain);
    target.addEventListener("focusout", lose);
    return () => {
      target.removeEventListener("keydown", watchKeys, { capture: true });
      target.removeEventListener("focusin", gain);
      target.removeEventListener("focusout", lose);
    };
  }, [current, target]);

  const connection = useCallback(() => current.current, [current]);
  const picture = useCallback(() => current.current?.canvas ?? null, [current]);
  return { state, screen: setTarget, still, size, focused, clipboard, connection, picture, retry };
}

function keepStill(canvas: HTMLCanvasElement | null, picture: ImageData | null): void {
  if (canvas === null || picture === null) return;
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.getContext("2d")?.putImageData(picture, 0, 0);
}
