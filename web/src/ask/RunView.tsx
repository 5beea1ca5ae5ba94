import { memo } from "react";
import { sentence, span, took } from "../format";
import { Crops } from "../session/Crops";
import type { Hit, Spot } from "../session/trace";
import { aboutHit, effectOf, hitOf } from "../session/traceWords";
import type { VisionStep } from "../api/wire";
import { Icon } from "../ui/Icon";
import { Meter } from "./RunControls";
import { cropsOf, spotOf, type Shown } from "./run";
import { costOf, endOf, iconOf, placeOf, reasonOf, stepOf } from "./words";

interface RunViewProps {
  sessionId: string;
  /** Whether the session still has the pictures of its steps. */
  pictures: boolean;
  run: Shown;
  onSpot: (spot: Spot | null) => void;
}

/** A run from its instruction to its outcome. */
export function RunView({ sessionId, pictures, run, onSpot }: RunViewProps) {
  return (
    <>
      <div className="run-asked">
        <p>{run.instruction}</p>
        <p className="muted">
          {run.by ? `${run.by} · ` : ""}
          {run.model ?? "Structured, without a model"}
        </p>
      </div>
      <ol aria-label="Steps" aria-live="polite">
        {run.steps.map((step, index) => (
          <StepRow key={index} sessionId={sessionId} pictures={pictures} step={step} onSpot={onSpot} />
        ))}
      </ol>
      {run.decisions.map(({ question, decision, by, at }) => (
        <p key={at} className="run-decision muted">
          <Icon name="hand" />
          <span>
            {decision === "allow" ? "Allowed" : "Denied"} {by ? `by ${by.subject}` : "without an answer"}: {sentence(question)}
          </span>
        </p>
      ))}
      <div role="status">{run.outcome && run.state === "ended" && <Ended run={run} />}</div>
    </>
  );
}

interface StepRowProps extends Omit<RunViewProps, "run"> {
  step: VisionStep;
}

const StepRow = memo(function StepRow({ sessionId, pictures, step, onSpot }: StepRowProps) {
  const spot = spotOf(step);
  const what = stepOf(step);
  // Null and absent are the same here.
  const hit = step.hit as Hit | null | undefined;
  const target = hit ? hitOf(hit) : "";
  const cost = costOf(step);
  return (
    <li
      className="action trace-action run-step"
      data-ok={!step.problem}
      data-spot={spot !== null}
      onMouseEnter={() => onSpot(spot)}
      onMouseLeave={() => onSpot(null)}
    >
      <Icon name={iconOf(step.action)} />
      <span className="what" title={what}>
        <span className="muted tabular">{step.step}.</span> {what}
      </span>
      <span className="where tabular">{placeOf(step)}</span>
      <span className="took tabular" title="How long it took">
        {took(step.duration_ms)}
      </span>
      {hit && target && (
        <span className="target" title={aboutHit(hit)}>
          {target}
        </span>
      )}
      {step.said && <span className="said">{step.said}</span>}
      {(step.effect || cost) && (
        <span className="by muted tabular">
          {step.effect && (
            <span className="effect" data-effect={step.effect}>
              {effectOf(step.effect)}
            </span>
          )}
          {cost}
        </span>
      )}
      {step.problem && <span className="outcome">{sentence(step.problem)}</span>}
      {pictures && step.pictures && <Crops sessionId={sessionId} entry={cropsOf(step)} what={what} />}
    </li>
  );
});

/** How it ended, why, and what shows it. */
function Ended({ run }: { run: Shown }) {
  const outcome = run.outcome!;
  const { title, text, tone } = endOf(outcome, run.mode);
  const reason = reasonOf(outcome, run.mode, run.reason);
  const lasted = run.ended === null ? null : span(Date.parse(run.ended) - Date.parse(run.began));
  return (
    <section className="run-end" data-tone={tone} aria-label="Outcome">
      <h3>
        <Icon name={tone === "good" ? "check" : tone === "bad" ? "close" : "hand"} /> {title}
      </h3>
      {text && <p>{text}</p>}
      {reason && <p>{sentence(reason)}</p>}
      {run.evidence.length > 0 && (
        <ul aria-label="What shows it">
          {run.evidence.map((each) => (
            <li key={each}>{sentence(each)}</li>
          ))}
        </ul>
      )}
      {run.answer && <p className="said">{run.answer}</p>}
      <div className="run-total muted">
        {run.model !== null && <Meter run={run} budget={null} />}
        {lasted && <span className="tabular">{lasted}</span>}
      </div>
    </section>
  );
}
