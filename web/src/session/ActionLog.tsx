import { memo, useLayoutEffect, useMemo, useRef, useState } from "react";
import { timeOfDay, took } from "../format";
import { Icon } from "../ui/Icon";
import { actorOf, iconOf, isSaid, linesOf, outcomeOf, whatOf, whereOf, type Line } from "./action";
import { useActions } from "./actions";

/**
 * The list of actions: who, what, where and how fast. The newest is at the bottom and stays visible unless scrolled
 * away.
 */
export function ActionLog({ sessionId, over }: { sessionId: string; over: boolean }) {
  const { actions, error, older, loadOlder } = useActions(sessionId);
  const list = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const lines = useMemo(() => linesOf(actions ?? []), [actions]);

  useLayoutEffect(() => {
    if (following && list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [actions, following]);

  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = list.current!;
    setFollowing(scrollHeight - scrollTop - clientHeight < 24);
  };

  return (
    <div className="log">
      <div className="log-list" ref={list} onScroll={onScroll} tabIndex={0} role="log" aria-label="Actions" aria-live="off">
        {error && (
          <p className="notice" role="alert">
            {error}
          </p>
        )}
        {older && (
          <button type="button" className="quiet" onClick={loadOlder}>
            Load earlier actions
          </button>
        )}
        {actions?.length === 0 && <p className="muted log-empty">{over ? "No actions." : "No actions yet."}</p>}
        <ol>
          {lines.map(({ action, times }) => (
            <Row key={action.seq} action={action} times={times} />
          ))}
        </ol>
      </div>
      {!following && (
        <button type="button" className="follow" onClick={() => setFollowing(true)}>
          <Icon name="down" /> Newest
        </button>
      )}
    </div>
  );
}

const Row = memo(function Row({ action, times }: Line) {
  const ok = action.outcome === "ok";
  const actor = actorOf(action);
  return (
    <li className="action" data-ok={ok} data-human={actor.kind !== "Agent"} data-said={isSaid(action)}>
      <Icon name={iconOf(action)} />
      <span className="what" title={whatOf(action)}>
        {whatOf(action)}
        {times > 1 && <span className="muted"> ×{times}</span>}
      </span>
      <span className="where tabular">{whereOf(action)}</span>
      <span className="took tabular" title="How long it took">
        {action.by.kind === "agent" && took(action.duration_ms)}
      </span>
      <span className="by muted">
        <time className="tabular" dateTime={action.at}>
          {timeOfDay(action.at)}
        </time>{" "}
        <span className="actor">
          <Icon name={actor.kind === "Agent" ? "agent" : actor.kind === "Link" ? "link" : "person"} />
          {actor.kind}
        </span>
        <span className="subject" title={actor.name}>
          {actor.name}
        </span>
      </span>
      {!ok && (
        <span className="outcome" title={action.outcome}>
          {outcomeOf(action)}
        </span>
      )}
    </li>
  );
});
