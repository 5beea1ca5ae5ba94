import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { useConnection } from "../viewer/useConnection";
import { Painter } from "../viewer/painter";
import type { CastQuality } from "../viewer/quality";
import type { ViewerState } from "../viewer/state";
import type { Edit } from "../viewer/typed";
import { CastConnection } from "./connection";
import { Keyboard } from "./keyboard";
import { press, typeText } from "./keys";
import type { CastRequest, KeyParams } from "./message";
import { Mouse } from "./mouse";
import { fitted, pagePoint } from "./place";
import { changeCast, nothingCast, type CastState } from "./state";

interface CastOptions {
  /** The socket; null while there is nothing to connect to. */
  url: string | null;
  quality: CastQuality;
  /** Whether it is visible now. */
  shown: boolean;
  driving: boolean;
  /** Called when a connection ended, for any reason. */
  onClosed: () => void;
  /** Called when the person wants the keyboard back. */
  onWayOut: () => void;
  /** Called with a description of what failed. */
  onError: (text: string) => void;
}

export interface Cast extends CastState {
  connection: ViewerState;
  /** The chosen tab; null to follow the agent. */
  tab: string | null;
  /** The visible tab; null while unknown. */
  viewed: string | null;
  show: (tab: string | null) => void;
  /** Ref of the canvas for the picture. */
  canvas: (element: HTMLCanvasElement | null) => void;
  /** Ref of the field that receives keys. */
  field: (element: HTMLTextAreaElement | null) => void;
  /** Whether the page has the keyboard. */
  focused: boolean;
  focus: () => void;
  edit: (edit: Edit) => void;
  answer: (accept: boolean, text?: string) => void;
  retry: () => void;
}

/** Shows the stream of a session's browser on a canvas, and forwards input. */
export function useCast(options: CastOptions): Cast {
  const { url, quality, shown, driving } = options;
  const [tab, show] = useState<string | null>(null);
  const [canvas, setCanvas] = useState<HTMLCanvasElement | null>(null);
  const [field, setField] = useState<HTMLTextAreaElement | null>(null);
  const [state, change] = useReducer(changeCast, nothingCast);
  const [focused, setFocused] = useState(false);
  const visible = useVisible() && shown;
  const keyboard = useRef<Keyboard | null>(null);
  const mouse = useRef<Mouse | null>(null);
  const latest = useRef({ ...options, tab, visible, frame: state.frame });
  latest.current = { ...options, tab, visible, frame: state.frame };

  const { state: connection, current, retry } = useConnection(canvas, url, (element, address, { connected, closed }) => {
    const painter = new Painter(element as HTMLCanvasElement);
    const line: CastConnection = new CastConnection(withQuality(address, latest.current.quality), {
      connected: () => {
        connected();
        change({ kind: "opened" });
        line.pause(!latest.current.visible);
        // Not in the address: a tab that was closed meanwhile must not make the connection fail.
        if (latest.current.tab !== null) line.send(viewOf(latest.current));
      },
      closed: (closing) => {
        change({ kind: "closed" });
        closed(closing);
        latest.current.onClosed();
      },
      message: (message) => {
        change({ kind: "told", message });
        if (message.kind === "error") latest.current.onError(message.message);
      },
      picture: async (jpeg) => {
        if (await painter.paint(jpeg)) change({ kind: "painted" });
      },
    });
    return line;
  });
  const send = useCallback((request: CastRequest) => current.current?.send(request), [current]);

  // Not in the address: a change needs no new connection.
  const { quality: level, max_width, max_height, max_fps } = quality;
  useEffect(
    () => send({ method: "view", params: { tab, quality: level, max_width, max_height, max_fps } }),
    [send, tab, level, max_width, max_height, max_fps],
  );
  useEffect(() => current.current?.pause(!visible), [current, visible]);

  const { tabs } = state;
  const viewed = tab ?? tabs.find(({ active }) => active)?.id ?? null;
  // A closed tab cannot be watched. A new one may not have been reported yet.
  const there = tabs.some(({ id }) => id === tab);
  const met = useRef<string | null>(null);
  if (there) met.current = tab;
  const lost = tab !== null && met.current === tab && tabs.length > 0 && !there;
  useEffect(() => {
    if (lost) show(null);
  }, [lost]);

  useEffect(() => {
    if (canvas === null || field === null) return;
    const keys = new Keyboard(field, {
      send: (all) => all.forEach((params) => send({ method: "Input.dispatchKeyEvent", params })),
      wayOut: () => latest.current.onWayOut(),
      focus: setFocused,
      failed: (text) => latest.current.onError(text),
    });
    const pointer = new Mouse(canvas, {
      send,
      place: (at, dragging) => {
        const { frame } = latest.current;
        return frame && pagePoint(at, shownOn(canvas), frame, dragging);
      },
      pageHeight: () => latest.current.frame?.height ?? 0,
      pressed: () => keys.focus(),
    });
    keyboard.current = keys;
    mouse.current = pointer;
    return () => {
      keys.close();
      pointer.close();
    };
  }, [canvas, field, send]);

  const active = driving && state.mayDrive && state.dialog === null && connection.kind === "connected";
  useEffect(() => {
    for (const part of [keyboard.current, mouse.current]) {
      if (part === null) continue;
      if (!active) part.release();
      part.active = active;
    }
  }, [active, canvas, field]);

  const focus = useCallback(() => keyboard.current?.focus(), []);
  const edit = useCallback(
    ({ erase, text }: Edit) => {
      const keys: KeyParams[] = [...Array.from({ length: erase }, () => press("Backspace")).flat(), ...typeText(text)];
      for (const params of keys) send({ method: "Input.dispatchKeyEvent", params });
    },
    [send],
  );
  const answer = useCallback(
    (accept: boolean, text?: string) =>
      send({ method: "dialog", params: { accept, ...(text === undefined ? {} : { text }) } }),
    [send],
  );
  const handles = { canvas: setCanvas, field: setField, focus, edit, answer, retry };
  return { ...state, connection, tab, viewed, show, focused, ...handles };
}

function viewOf({ tab, quality }: { tab: string | null; quality: CastQuality }): CastRequest {
  return { method: "view", params: { ...quality, tab } };
}

function withQuality(address: string, quality: CastQuality): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(quality)) url.searchParams.set(name, String(value));
  return url.href;
}

/** The position of the fitted picture on the canvas. */
function shownOn(canvas: HTMLCanvasElement) {
  return fitted(canvas.getBoundingClientRect(), canvas);
}

/** Whether the document is visible. */
function useVisible(): boolean {
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const look = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return visible;
}
