import { useState } from "react";
import { allows } from "../api/client";
import type { ModelUsage } from "../api/wire";
import { useIdentity } from "../identity";
import { prefix } from "../prefix";
import { Link } from "../router";
import { CodeBlock } from "../ui/CodeBlock";
import { Icon } from "../ui/Icon";
import { Nothing } from "../ui/Nothing";
import { dollars, rate, tokens } from "./metrics";
import { sumOf, windows, type Window } from "./sums";
import { UsageTable } from "./UsageTable";

interface UsageProps {
  usage: ModelUsage | null;
  window: Window;
  onWindow: (window: Window) => void;
  /** Whose calls; empty for all that the person may see. */
  caller: string;
  callers: string[];
  onCaller: (caller: string) => void;
  now: number;
}

/** What was called in a window of time, and how often it worked. */
export function Usage({ usage, window, onWindow, caller, callers, onCaller, now }: UsageProps) {
  const { scopes } = useIdentity();
  const [whole, setWhole] = useState(false);
  const chosen = windows.find((each) => each.window === window);
  return (
    <section aria-labelledby="rates">
      <div className="section-head">
        <h2 id="rates">Model success rates</h2>
        <div className="section-tools">
          {allows(scopes, "admin") && (
            <select aria-label="Caller" value={caller} onChange={({ target }) => onCaller(target.value)}>
              <option value="">All callers</option>
              {callers.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          )}
          <div className="segments" role="group" aria-label="Sum up">
            <button type="button" aria-pressed={!whole} onClick={() => setWhole(false)}>
              Models
            </button>
            <button type="button" aria-pressed={whole} onClick={() => setWhole(true)}>
              Providers
            </button>
          </div>
          <div className="segments" role="group" aria-label="Window">
            {windows.map((each) => (
              <button
                key={each.window}
                type="button"
                aria-pressed={each.window === window}
                aria-label={each.words}
                onClick={() => onWindow(each.window)}
              >
                {each.text}
              </button>
            ))}
          </div>
        </div>
      </div>
      {usage === null ? (
        <span className="spinner" role="status" aria-label="Loading" />
      ) : usage.rows.length === 0 ? (
        <NoCalls words={chosen?.words ?? ""} />
      ) : (
        <>
          <Totals usage={usage} />
          <UsageTable rows={usage.rows} whole={whole} now={now} />
        </>
      )}
    </section>
  );
}

function Totals({ usage }: { usage: ModelUsage }) {
  const sum = sumOf(usage.rows);
  if (sum === null) return null;
  return (
    <p className="totals muted tabular" role="status">
      {sum.total.toLocaleString("en-US")} {sum.total === 1 ? "call" : "calls"} · {rate(sum.success_rate)} answered · {tokens(sum.input_tokens)} tokens in,{" "}
      {tokens(sum.output_tokens)} out · {dollars(sum.cost_usd)}
    </p>
  );
}

function NoCalls({ words }: { words: string }) {
  const address = new URL("v1", prefix).href;
  return (
    <Nothing icon="clock" title={`No calls in ${words}`}>
      <p className="muted">
        Programs that speak the API of OpenAI call models here. Give them this address, and a token that may call models.
      </p>
      <CodeBlock
        text={`export OPENAI_BASE_URL=${address} OPENAI_API_KEY=<token>`}
        what="command"
        caption="Shell of the program"
      />
      <Link className="button" to="tokens">
        <Icon name="token" /> Make a token
      </Link>
    </Nothing>
  );
}
