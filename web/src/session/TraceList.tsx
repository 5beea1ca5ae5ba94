import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Icon } from "../ui/Icon";
import { linesOf, most, type Spot } from "./trace";
import { TraceRow } from "./TraceRow";
import { useTrace } from "./useTrace";

interface TraceListProps {
  sessionId: string;
  /** Whether the session can be asked; its trace ends with it. */
  live: boolean;
  over: boolean;
  /** Whether the person may see small pictures. */
  pictures: boolean;
  /** Points at the place of an entry in the session's picture. */
  onSpot: (spot: Spot | null) => void;
}

/**
 * What happened in the session: actions with what they hit and changed, and what happened to windows and pages in
 * between. As in the list of actions, the newest is at the bottom and stays visible unless scrolled away.
 */
export function TraceList({ sessionId, live, over, pictures, onSpot }: TraceListProps) {
  const list = useRef<HTMLDivElement>(null);
  const { trace, error } = useTrace(sessionId, live, list);
  const [following, setFollowing] = useState(true);
  const entries = trace?.entries;
  const lines = useMemo(() => linesOf(entries ?? []), [entries]);

  useLayoutEffect(() => {
    if (following && list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [entries, following]);
  useEffect(() => () => onSpot(null), [onSpot]);

  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = list.current!;
    setFollowing(scrollHeight - scrollTop - clientHeight < 24);
  };
  const began = trace?.began ?? 0;
  const timeOf = useCallback((at: number) => new Date(began + at).toISOString(), [began]);

  const acted = lines.some(({ kind }) => kind === "action");
  const unobserved = acted && !lines.some(({ effect }) => effect !== undefined);
  return (
    <div className="log">
      <div className="log-list" ref={list} onScroll={onScroll} tabIndex={0} role="log" aria-label="Trace" aria-live="off">
        {error && (
          <p className="notice" role="alert">
            {error}
          </p>
        )}
        {lines.length === 0 && (over || trace !== null) && <NoTrace over={over} />}
        {entries?.length === most && <p className="muted trace-hint">The last {most} entries.</p>}
        <ol>
          {lines.map((entry) => (
            <TraceRow key={entry.id} entry={entry} {...{ sessionId, pictures, timeOf, onSpot }} />
          ))}
        </ol>
        {unobserved && !over && (
          <p className="muted trace-hint">
            <Observe />
          </p>
        )}
      </div>
      {!following && (
        <button type="button" className="follow" onClick={() => setFollowing(true)}>
          <Icon name="down" /> Newest
        </button>
      )}
    </div>
  );
}

function NoTrace({ over }: { over: boolean }) {
  if (over) return <p className="muted log-empty">The trace is kept only while the session runs.</p>;
  return (
    <div className="log-empty trace-empty">
      <Icon name="eye" />
      <p>
        <b>Nothing has happened yet.</b>
      </p>
      <p className="muted">Actions appear here, with windows, tabs and pages that open and close.</p>
      <p className="muted">
        <Observe />
      </p>
    </div>
  );
}

function Observe() {
  return (
    <>
      Add <code>"observe": "auto"</code> to an action to see what it changed.
    </>
  );
}
