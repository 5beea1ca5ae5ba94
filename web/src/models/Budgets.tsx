import { useState, type FormEvent } from "react";
import { client, explain } from "../api/client";
import type { ModelBudget } from "../api/wire";
import { Confirm } from "../ui/Confirm";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { LimitBar } from "./Cards";
import { limitsOf, readLimits, usedOf } from "./state";
import { useHeading } from "./useHeading";

type Open = { task: "set"; budget: ModelBudget | null } | { task: "remove"; budget: ModelBudget };

/** Budgets that differ from that of all callers. */
export function Budgets({ budgets, onChanged }: { budgets: ModelBudget[]; onChanged: () => Promise<void> }) {
  const [open, setOpen] = useState<Open | null>(null);
  const heading = useHeading(open !== null);
  const remove = async (caller: string) => {
    await client.removeModelBudget(caller);
    await onChanged();
  };
  const close = () => setOpen(null);

  return (
    <section aria-labelledby="budgets">
      <div className="section-head">
        <h2 id="budgets" ref={heading} tabIndex={-1}>
          Budgets of callers
        </h2>
        <button type="button" onClick={() => setOpen({ task: "set", budget: null })}>
          <Icon name="plus" /> Set budget
        </button>
      </div>
      {budgets.length === 0 ? (
        <p className="muted hint">
          No caller has its own budget. <code>HELMDECK_MODEL_DAILY_USD</code> and{" "}
          <code>HELMDECK_MODEL_DAILY_TOKENS</code> limit every caller.
        </p>
      ) : (
        <BudgetTable budgets={budgets} onTask={(task, budget) => setOpen({ task, budget })} />
      )}
      {open?.task === "set" && <SetBudget budget={open.budget} onSet={onChanged} onClose={close} />}
      {open?.task === "remove" && (
        <Confirm
          title="Remove budget?"
          action="Remove"
          danger
          onConfirm={() => remove(open.budget.caller)}
          onClose={close}
        >
          <p>
            <b>{open.budget.caller}</b> then has the budget of all callers again.
          </p>
        </Confirm>
      )}
    </section>
  );
}

interface BudgetTableProps {
  budgets: ModelBudget[];
  onTask: (task: "set" | "remove", budget: ModelBudget) => void;
}

function BudgetTable({ budgets, onTask }: BudgetTableProps) {
  return (
    <table className="table budgets" aria-label="Budgets of callers">
      <thead>
        <tr>
          <th scope="col">Caller</th>
          <th scope="col">Dollars in 24 hours</th>
          <th scope="col">Tokens in 24 hours</th>
          <th scope="col">Used</th>
          <th scope="col">
            <span className="off-screen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {budgets.map((budget) => (
          <tr key={budget.caller}>
            <th scope="row">
              <span className="table-title">{budget.caller}</span>
            </th>
            {(["usd", "tokens"] as const).map((kind) => {
              const limit = limitsOf(budget).find((each) => each.kind === kind);
              return (
                <td key={kind} data-label={kind === "usd" ? "Dollars" : "Tokens"}>
                  {limit ? (
                    <LimitBar limit={limit} whose={`the budget of ${budget.caller}`} />
                  ) : (
                    <span className="muted">no limit</span>
                  )}
                </td>
              );
            })}
            <td data-label="Used">{usedOf(budget)}</td>
            <td className="table-actions">
              <Menu icon="more" label={`Manage the budget of ${budget.caller}`}>
                {(close) => (
                  <>
                    <button type="button" className="quiet" onClick={() => (close(), onTask("set", budget))}>
                      Change…
                    </button>
                    <button type="button" className="quiet danger-text" onClick={() => (close(), onTask("remove", budget))}>
                      Remove…
                    </button>
                  </>
                )}
              </Menu>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SetBudgetProps {
  /** The budget to change; null for a new one. */
  budget: ModelBudget | null;
  onSet: () => Promise<void>;
  onClose: () => void;
}

function SetBudget({ budget, onSet, onClose }: SetBudgetProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(null);
    try {
      const caller = budget?.caller ?? String(form.get("caller") ?? "").trim();
      await client.setModelBudget(caller, readLimits(form));
      await onSet();
      onClose();
    } catch (caught) {
      setError(explain(caught));
      setBusy(false);
    }
  };
  return (
    <Dialog title={budget ? `Budget of ${budget.caller}` : "Set budget"} onClose={onClose} stays>
      <form onSubmit={(event) => void submit(event)}>
        {budget === null && (
          <label>
            Caller
            <input
              name="caller"
              required
              maxLength={200}
              data-autofocus
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              placeholder="Owner of the tokens"
            />
          </label>
        )}
        <div className="columns">
          <label>
            Dollars in 24 hours
            <input
              name="usd"
              type="number"
              min={0}
              max={1_000_000}
              step="any"
              inputMode="decimal"
              placeholder="No limit"
              data-autofocus={budget ? true : undefined}
              defaultValue={budget?.daily_usd ?? ""}
            />
          </label>
          <label>
            Tokens in 24 hours
            <input
              name="tokens"
              type="number"
              min={0}
              max={1_000_000_000_000}
              step={1}
              inputMode="numeric"
              placeholder="No limit"
              defaultValue={budget?.daily_tokens ?? ""}
            />
          </label>
        </div>
        <p className="muted hint">
          A call that could exceed it is refused before it is made. An empty field is no limit.
        </p>
        {error && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={busy}>
            Set budget
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
