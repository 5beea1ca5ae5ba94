import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { allows, client, explain } from "../api/client";
import type { Session } from "../api/wire";
import { useIdentity } from "../identity";
import { useFresh } from "../models/useFresh";
import { Link } from "../router";
import type { Spot } from "../session/trace";
import { CodeBlock } from "../ui/CodeBlock";
import { Nothing } from "../ui/Nothing";
import { AskForm, type Draft } from "./AskForm";
import type { Mode } from "./run";
import { RunControls } from "./RunControls";
import { RunView } from "./RunView";
import type { Ask } from "./useAsk";

interface AskPanelProps {
  session: Session;
  ask: Ask;
  /** The session can still be used. */
  live: boolean;
  /** Kept by the page, so that switching tabs does not lose it. */
  draft: Draft;
  onDraft: (draft: Draft) => void;
  onSpot: (spot: Spot | null) => void;
}

/** Asks for something on the desktop, and shows each step until it is verified. */
export function AskPanel({ session, ask, live, draft, onDraft, onSpot }: AskPanelProps) {
  const { scopes } = useIdentity();
  const mayAsk = allows(scopes, "models:use");
  const { mode, choose, error: modeError } = useActionMode(session);
  const models = useFresh(mayAsk ? client.models : null);
  const scroll = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const { run, error } = ask;
  const busy = run !== null && run.state !== "ended";

  useLayoutEffect(() => {
    const list = scrolled(scroll.current);
    if (following && run !== null && list) list.scrollTop = list.scrollHeight;
  }, [run, following]);
  useEffect(() => () => onSpot(null), [onSpot]);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = scrolled(scroll.current)!;
    setFollowing(scrollHeight - scrollTop - clientHeight < 24);
  };

  const noModel = mode === "vision" && models.value?.models.length === 0;
  const failed = error ?? modeError ?? (mayAsk ? models.error : null);
  return (
    <div className="ask" onScroll={onScroll}>
      <div className="ask-scroll" ref={scroll} onScroll={onScroll} tabIndex={0} role="group" aria-label="The run">
        {run !== null ? <RunView sessionId={session.id} pictures={live} run={run} onSpot={onSpot} /> : !noModel && <Start mode={mode} />}
        {noModel && !busy && live && <NoModel hint={models.value?.hint ?? null} />}
        {failed && (
          <p className="notice" role="alert">
            {failed}
          </p>
        )}
      </div>
      {busy ? (
        <RunControls run={run} budget={ask.budget} onSteer={live ? ask.steer : null} />
      ) : (
        live && (
          <AskForm
            mode={mode}
            onMode={choose}
            draft={draft}
            onDraft={onDraft}
            models={models.value}
            mayAsk={mayAsk}
            onRun={(wanted) => {
              setFollowing(true);
              return ask.start(mode, wanted);
            }}
          />
        )
      )}
    </div>
  );
}

/** The mode of the session. What a person chooses is shown before the server has it. */
function useActionMode({ id, action_mode = "structured" }: Session) {
  const [chosen, setChosen] = useState<Mode | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => setChosen((now) => (now === action_mode ? null : now)), [action_mode]);
  const choose = (mode: Mode) => {
    setChosen(mode === action_mode ? null : mode);
    setError(null);
    client.setActionMode(id, mode).catch((caught: unknown) => {
      setChosen(null);
      setError(explain(caught));
    });
  };
  return { mode: chosen ?? action_mode, choose, error };
}

/** On a phone, the run and the box scroll together. */
function scrolled(list: HTMLElement | null): HTMLElement | null {
  return list && getComputedStyle(list).overflowY === "visible" ? list.parentElement : list;
}

function Start({ mode }: { mode: Mode }) {
  return (
    <Nothing icon="say" title="Ask for something on this desktop">
      <p className="muted">
        {mode === "vision"
          ? "A model sees the screen, acts, and stops when the goal is verified. Each step appears here."
          : "One named element is found and clicked. No model is asked, and it costs nothing."}
      </p>
    </Nothing>
  );
}

/** The one command that changes it. */
const command = "helmdeck models add-key openrouter";

function NoModel({ hint }: { hint: string | null }) {
  return (
    <Nothing icon="model" title="No model can be called yet">
      <p className="muted">
        Add the key of a provider on the page <Link to="models">Models</Link>, or with this command. Structured runs need
        none.
      </p>
      <CodeBlock text={/helmdeck models add-key \w+/.exec(hint ?? "")?.[0] ?? command} what="command" caption="On the server" />
    </Nothing>
  );
}
