import { useState } from "react";
import { useNow } from "../clock";
import { count, span } from "../format";
import { LimitBar } from "../models/Cards";
import { dollars, tokens } from "../models/metrics";
import { Icon } from "../ui/Icon";
import type { Shown } from "./run";
import { stateOf } from "./words";

type Steer = (how: "pause" | "resume" | "stop") => Promise<void>;

interface RunControlsProps {
  run: Shown;
  budget: number | null;
  /** Null if it cannot be steered now. */
  onSteer: Steer | null;
}

/** The state and cost of a run that is under way, and the buttons to pause and stop it. */
export function RunControls({ run, budget, onSteer }: RunControlsProps) {
  const now = useNow();
  const [busy, setBusy] = useState(false);
  const { state } = run;
  const steer = (how: "pause" | "resume" | "stop") => {
    setBusy(true);
    void onSteer?.(how).then(() => setBusy(false));
  };
  const turn = run.steps.at(-1)?.step ?? 0;
  return (
    <div className="run-controls">
      <div className="run-state">
        <span className="run-badge" data-state={state} role="status">
          {state === "running" ? <span className="spinner" /> : <Icon name={state === "waiting" ? "hand" : "clock"} />}
          {stateOf(state)}
        </span>
        <span className="muted tabular">
          {run.maxSteps === null ? count(turn, "step") : `Step ${turn} of ${run.maxSteps}`} ·{" "}
          {span(now - Date.parse(run.began))}
        </span>
      </div>
      {run.model !== null && <Meter run={run} budget={budget} />}
      {onSteer && (
        <div className="row">
          {run.begun && state !== "waiting" && (
            <button type="button" disabled={busy} onClick={() => steer(state === "paused" ? "resume" : "pause")}>
              <Icon name={state === "paused" ? "play" : "pause"} /> {state === "paused" ? "Resume" : "Pause"}
            </button>
          )}
          <button type="button" className="danger-text" disabled={busy} onClick={() => steer("stop")}>
            <Icon name="close" /> Stop
          </button>
        </div>
      )}
    </div>
  );
}

/** What a run has used so far. */
export function Meter({ run, budget }: { run: Shown; budget: number | null }) {
  const used = `${tokens(run.tokens)} tokens`;
  if (budget !== null && run.usd !== null) {
    const text = `${used} · ${dollars(run.usd)} of ${dollars(budget)}`;
    return (
      <div className="run-meter">
        <LimitBar limit={{ kind: "usd", limit: budget, used: run.usd, text }} whose="the budget" />
      </div>
    );
  }
  return (
    <p className="run-meter tabular">
      {used} · {run.usd === null ? "price not known" : dollars(run.usd)}
    </p>
  );
}
