import { useId, useState } from "react";
import { explain } from "../api/client";
import type { ModelBudget, ModelList, Provider } from "../api/wire";
import { dollars, tokens } from "./metrics";
import { limitsOf, takesKey, titleOf, usedOf, type Limit } from "./state";

/** The model for requests that name none, and those that are tried after it. */
export function DefaultModel({ list, providers }: { list: ModelList; providers: Provider[] }) {
  return (
    <section className="model-card" aria-labelledby="default-model">
      <h2 id="default-model">Default model</h2>
      <ol className="default-models">
        {[list.default_model, ...list.fallbacks].map((id, place) => (
          <li key={id}>
            <span className="muted">{place === 0 ? "First" : "Then"}</span>
            <code>{id}</code>
            <Callable id={id} providers={providers} />
          </li>
        ))}
      </ol>
      <p className="muted hint">
        It answers requests that name no model.{" "}
        {list.fallbacks.length > 0 ? "The next one answers if it fails." : "No other one answers if it fails."}{" "}
        <code>HELMDECK_DEFAULT_MODEL</code> and <code>HELMDECK_GATEWAY_FALLBACK_JSON</code> choose them.
      </p>
      <Chains list={list} />
    </section>
  );
}

/** What is tried when one of the other models fails. */
function Chains({ list }: { list: ModelList }) {
  const others = list.chains.filter(({ primary }) => primary !== list.default_model);
  if (others.length === 0) return null;
  return (
    <ul className="limits" aria-label="When another model fails">
      {others.map(({ primary, fallbacks }) => (
        <li key={primary}>
          <code>{primary}</code> <span className="muted">then {fallbacks.map(({ model }) => model).join(", ")}</span>
        </li>
      ))}
    </ul>
  );
}

interface VisionModelProps {
  list: ModelList;
  providers: Provider[];
  /** Pins a model, or unpins it with an empty text. Null for people who may not. */
  onPin: ((model: string) => Promise<void>) | null;
}

/** The model of runs and packs of vision that name none. */
export function VisionModel({ list, providers, onPin }: VisionModelProps) {
  const id = useId();
  const [model, setModel] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const pin = async (wanted: string) => {
    setBusy(true);
    setError(null);
    try {
      await onPin?.(wanted);
      setModel("");
    } catch (caught) {
      setError(explain(caught));
    }
    setBusy(false);
  };
  return (
    <section className="model-card" aria-labelledby="vision-model">
      <h2 id="vision-model">Model of vision</h2>
      <p>
        <code>{list.vision_model}</code>{" "}
        {list.vision_pinned && (
          <span className="mark" data-tone="calm">
            Pinned
          </span>
        )}{" "}
        <Callable id={list.vision_model} providers={providers} />
      </p>
      {onPin && (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            void pin(model.trim());
          }}
        >
          <input
            aria-label="Model to pin"
            list={`${id}-models`}
            autoComplete="off"
            spellCheck={false}
            required
            maxLength={200}
            placeholder="provider/model"
            value={model}
            onChange={({ target }) => setModel(target.value)}
          />
          <datalist id={`${id}-models`}>
            {list.models.map((each) => (
              <option key={each.id} value={each.id} />
            ))}
          </datalist>
          <button type="submit" disabled={busy}>
            Pin
          </button>
          {list.vision_pinned && (
            <button type="button" className="quiet" disabled={busy} onClick={() => void pin("")}>
              Unpin
            </button>
          )}
        </form>
      )}
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <p className="muted hint">
        It answers runs and packs of vision that name no model. Pin a version so that they keep their behaviour when a
        provider changes a name without one.
      </p>
    </section>
  );
}

function Callable({ id, providers }: { id: string; providers: Provider[] }) {
  const name = id.split("/")[0] ?? "";
  const provider = providers.find((each) => each.name === name);
  if (provider?.available) return null;
  if (provider === undefined) return <span className="mark">No provider {name}</span>;
  return <span className="mark">{takesKey(provider) ? `No key of ${titleOf(name)}` : `${titleOf(name)} not found`}</span>;
}

/** What the person may still use. */
export function OwnBudget({ budget }: { budget: ModelBudget }) {
  const limits = limitsOf(budget);
  const usedUp = limits.some(({ used, limit }) => used >= limit);
  return (
    <section className="model-card" aria-labelledby="own-budget">
      <h2 id="own-budget">Your budget</h2>
      {limits.length === 0 ? (
        <p>No limit</p>
      ) : (
        <ul className="limits">
          {limits.map((limit) => (
            <li key={limit.kind}>
              <LimitBar limit={limit} whose="your budget" />
            </li>
          ))}
        </ul>
      )}
      <p className="muted hint">
        You used {usedOf(budget)} in the last 24 hours.
        {usedUp && " Your calls are refused until some of that is longer ago."}
      </p>
    </section>
  );
}

/** The share of a budget from which on the bar warns. */
const nearlyUsed = 0.9;

export function LimitBar({ limit: { kind, limit, used, text }, whose }: { limit: Limit; whose: string }) {
  const show = kind === "usd" ? dollars : tokens;
  return (
    <span className="limit tabular" title={`${show(used)} used`}>
      <span>{text}</span>
      <progress
        max={limit || 1}
        value={limit === 0 ? 1 : Math.min(used, limit)}
        data-full={used >= limit * nearlyUsed}
        aria-label={`Used of ${whose}, ${kind === "usd" ? "dollars" : "tokens"}`}
      />
    </span>
  );
}
