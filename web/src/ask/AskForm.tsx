import { useId, useRef, useState, type KeyboardEvent } from "react";
import type { AskVision, ModelList } from "../api/wire";
import { Icon } from "../ui/Icon";
import type { Mode } from "./run";
import { numberOf } from "./words";

/** What a person has entered so far. */
export interface Draft {
  instruction: string;
  model: string;
  steps: string;
  usd: string;
}

export const noDraft: Draft = { instruction: "", model: "", steps: "", usd: "" };

interface AskFormProps {
  /** How the session is used. */
  mode: Mode;
  onMode: (mode: Mode) => void;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** Null until they are known. */
  models: ModelList | null;
  /** Whether the person may call models. */
  mayAsk: boolean;
  /** Whether it began. */
  onRun: (ask: AskVision) => Promise<boolean>;
}

/** The box to ask in. */
export function AskForm({ mode, onMode, draft, onDraft, models, mayAsk, onRun }: AskFormProps) {
  const id = useId();
  const [starting, setStarting] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { instruction, model, steps, usd } = draft;
  const set = (change: Partial<Draft>) => onDraft({ ...draft, ...change });
  const vision = mode === "vision";
  const usual = models?.vision_model ?? "";
  const callable = models?.models.some(({ provider }) => provider === usual.split("/")[0]) ?? true;
  const blocked = vision && (!mayAsk || models?.models.length === 0);

  const run = async () => {
    if (starting || blocked || instruction.trim() === "") return;
    setStarting(true);
    const [max_steps, dollars] = [numberOf(steps), numberOf(usd)];
    const began = await onRun({
      instruction: instruction.trim(),
      ...(vision && model.trim() ? { model: model.trim() } : {}),
      ...(vision && max_steps !== undefined ? { max_steps } : {}),
      ...(vision && dollars !== undefined ? { budget: { usd: dollars } } : {}),
    });
    setStarting(false);
    if (began) set({ instruction: "" });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    // As the button does: fields are checked first.
    form.current?.requestSubmit();
  };

  return (
    <form
      ref={form}
      className="ask-form"
      onKeyDown={onKey}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <div className="ask-mode">
        <div className="segments" role="group" aria-label="Mode">
          {(["structured", "vision"] as const).map((each) => (
            <button key={each} type="button" aria-pressed={mode === each} onClick={() => onMode(each)}>
              {each === "vision" ? "Vision" : "Structured"}
            </button>
          ))}
        </div>
        <span className="muted">{vision ? "By pictures and a model" : "By names, without a model"}</span>
      </div>
      <textarea
        aria-label="What to do"
        rows={3}
        required
        maxLength={10_000}
        placeholder={vision ? "Sign in and open the last invoice" : "Click Save"}
        value={instruction}
        onChange={(event) => set({ instruction: event.target.value })}
      />
      {vision && !blocked && (
        <>
          <label>
            Model
            <input
              list={`${id}-models`}
              autoComplete="off"
              spellCheck={false}
              maxLength={200}
              required={!callable}
              placeholder={callable ? usual : "Choose a model"}
              value={model}
              onChange={(event) => set({ model: event.target.value })}
            />
            {!callable && <span className="muted">The server’s default, {usual}, has no key.</span>}
          </label>
          <datalist id={`${id}-models`}>
            {models?.models.map((each) => <option key={each.id} value={each.id} />)}
          </datalist>
          <details className="ask-more">
            <summary>More</summary>
            <div className="ask-limits">
              <label>
                Most steps
                <input
                  type="number"
                  min={1}
                  max={200}
                  placeholder="20"
                  value={steps}
                  onChange={(event) => set({ steps: event.target.value })}
                />
              </label>
              <label>
                Budget in dollars
                <input
                  type="number"
                  min={0}
                  max={100_000}
                  step="any"
                  placeholder="None"
                  value={usd}
                  onChange={(event) => set({ usd: event.target.value })}
                />
              </label>
            </div>
          </details>
        </>
      )}
      {vision && !mayAsk && <p className="muted">Your token lacks the permission to call models.</p>}
      <div className="ask-run">
        <span className="muted ask-keys">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </span>
        <button type="submit" className="primary" disabled={starting || blocked || instruction.trim() === ""}>
          {starting ? <span className="spinner" /> : <Icon name="play" />} Run
        </button>
      </div>
    </form>
  );
}
