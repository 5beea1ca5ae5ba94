import { useEffect, useReducer, useRef, useState } from "react";
import { terminalUrl } from "../viewer/address";
import { TerminalConnection } from "./connection";
import { usePalette } from "./palette";
import { TerminalScreen } from "./screen";
import { changeTerminal, connecting, type TerminalState } from "./state";
import "../styles/terminal.css";

interface TerminalStageProps {
  sessionId: string;
  /** Another person in control. */
  holder: string | null;
  onFocus: (focused: boolean) => void;
  /** Called when the person wants the keyboard back. */
  onWayOut: () => void;
  /** Called when a connection ended, for any reason. */
  onClosed: () => void;
}

/** A shell in a session, from when it is shown until it is left. */
export default function TerminalStage(props: TerminalStageProps) {
  const { sessionId, holder } = props;
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  const [state, change] = useReducer(changeTerminal, connecting);
  const [round, restart] = useReducer((count: number) => count + 1, 0);
  const screen = useRef<TerminalScreen | null>(null);
  const connection = useRef<TerminalConnection | null>(null);
  const palette = usePalette();
  const latest = useRef({ ...props, palette });
  latest.current = { ...props, palette };

  useEffect(() => {
    if (element === null) return;
    const shown = new TerminalScreen(element, latest.current.palette, {
      typed: (bytes) => connection.current?.type(bytes),
      resized: (size) => connection.current?.resize(size),
      focus: (focused) => latest.current.onFocus(focused),
      wayOut: () => latest.current.onWayOut(),
    });
    screen.current = shown;
    return () => {
      screen.current = null;
      shown.close();
    };
  }, [element]);

  useEffect(() => {
    const shown = screen.current;
    if (element === null || shown === null) return;
    change({ kind: "start" });
    shown.clear();
    const asked = shown.size;
    const line: TerminalConnection = new TerminalConnection(terminalUrl(sessionId, asked), {
      opened: () => {
        change({ kind: "opened" });
        // The window may have changed meanwhile.
        const { cols, rows } = shown.size;
        if (cols !== asked.cols || rows !== asked.rows) line.resize(shown.size);
      },
      output: (bytes) => shown.show(bytes),
      told: (message) => change({ kind: "told", message }),
      closed: (closing) => {
        change({ kind: "closed", closing, holder: latest.current.holder });
        latest.current.onClosed();
      },
    });
    connection.current = line;
    return () => {
      connection.current = null;
      line.close();
    };
  }, [element, sessionId, round]);

  useEffect(() => {
    if (screen.current !== null) screen.current.theme = palette;
  }, [palette, element]);

  const connected = state.kind === "connected";
  useEffect(() => {
    if (screen.current === null) return;
    screen.current.active = connected;
    // A person who moves through the tabs with the arrow keys keeps the focus there.
    if (connected && !document.activeElement?.matches('[role="tab"]:focus-visible')) screen.current.focus();
  }, [connected, round, element]);

  const held = state.kind === "held";
  useEffect(() => {
    if (holder !== null) return;
    change({ kind: "free" });
    if (held) restart();
  }, [holder, held]);

  return (
    <div className="stage terminal-stage" data-state={state.kind}>
      <div className="terminal-screen" ref={setElement} />
      <div className="terminal-notice" role="status">
        <Notice state={state} holder={holder} onStart={restart} />
      </div>
    </div>
  );
}

interface NoticeProps {
  state: TerminalState;
  holder: string | null;
  onStart: () => void;
}

/** A message about the shell, with a button. */
function Notice({ state, holder, onStart }: NoticeProps) {
  switch (state.kind) {
    case "connecting":
      return (
        <p>
          <span className="spinner" /> Starting a shell…
        </p>
      );
    case "connected":
      if (state.refusal === null && holder === null) return null;
      return (
        <p>
          {state.refusal ?? `${holder} is driving by hand: your input is ignored.`} Take control to type
          here.
        </p>
      );
    case "ended":
    case "lost":
      return (
        <>
          <p>{state.text}</p>
          <button type="button" onClick={onStart}>
            {state.kind === "ended" ? "Start a new shell" : "Reconnect with a new shell"}
          </button>
        </>
      );
    case "held":
    case "over":
      return <p>{state.text}</p>;
  }
}
