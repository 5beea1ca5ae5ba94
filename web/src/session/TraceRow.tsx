import { memo } from "react";
import { timeOfDay, took } from "../format";
import { Icon } from "../ui/Icon";
import { iconOf, outcomeOf, whatOf } from "./action";
import { Crops } from "./Crops";
import { spotOf, type Spot, type TraceEntry } from "./trace";
import { aboutHit, effectOf, eventIcon, eventOf, hitOf, placeOf } from "./traceWords";

interface RowProps {
  sessionId: string;
  entry: TraceEntry;
  pictures: boolean;
  /** When an entry was, on our clock. */
  timeOf: (at: number) => string;
  onSpot: (spot: Spot | null) => void;
}

/** One entry of a trace. */
export const TraceRow = memo(function TraceRow(props: RowProps) {
  const { entry, timeOf } = props;
  const at = timeOf(entry.at_ms);
  return entry.kind === "action" ? <ActionRow {...props} at={at} /> : <EventRow entry={entry} at={at} />;
});

/** An action: what was hit, what changed, and how the place looked before and after. */
function ActionRow({ sessionId, entry, pictures, at, onSpot }: RowProps & { at: string }) {
  const { action = "", detail = {}, outcome, duration_ms, hit, effect } = entry;
  const what = whatOf({ action, detail });
  const spot = spotOf(entry);
  const target = hit ? hitOf(hit) : "";
  const failed = outcome !== undefined && outcome !== "ok";
  const point = () => onSpot(spot);
  const leave = () => onSpot(null);
  return (
    <li
      className="action trace-action"
      data-ok={!failed}
      data-spot={spot !== null}
      onMouseEnter={point}
      onMouseLeave={leave}
      onFocus={point}
      onBlur={leave}
    >
      <Icon name={iconOf({ action })} />
      <span className="what" title={what}>
        {what}
      </span>
      <span className="where tabular">{placeOf(entry)}</span>
      <span className="took tabular" title="How long it took">
        {duration_ms !== undefined && took(duration_ms)}
      </span>
      {hit && target && (
        <span className="target" title={aboutHit(hit)}>
          {target}
        </span>
      )}
      <span className="by muted">
        <time className="tabular" dateTime={at}>
          {timeOfDay(at)}
        </time>
        {effect && (
          <span className="effect" data-effect={effect}>
            {effectOf(effect)}
          </span>
        )}
        {outcome === undefined && <span>Not finished</span>}
      </span>
      {failed && (
        <span className="outcome" title={outcome}>
          {outcomeOf({ outcome })}
        </span>
      )}
      {pictures && (entry.before || entry.after) && <Crops sessionId={sessionId} entry={entry} what={what} />}
    </li>
  );
}

/** What happened to a window or page, in one small line. */
function EventRow({ entry, at }: { entry: TraceEntry; at: string }) {
  const what = eventOf(entry);
  return (
    <li className="trace-event muted">
      <Icon name={eventIcon(entry)} />
      <span className="one-line" title={what}>
        {what}
      </span>
      <time className="tabular" dateTime={at}>
        {timeOfDay(at)}
      </time>
    </li>
  );
}
