import { useCallback, useEffect, useState } from "react";
import { allows, client } from "../api/client";
import type { KeyTest, ModelBudget, ProviderKey } from "../api/wire";
import { useNow } from "../clock";
import { useIdentity } from "../identity";
import { Budgets } from "../models/Budgets";
import { DefaultModel, OwnBudget, VisionModel } from "../models/Cards";
import { KeyDialog } from "../models/KeyDialog";
import { ModelTable } from "../models/ModelTable";
import { OtherProviders, ProviderTable } from "../models/ProviderTable";
import { listProviders, titleOf } from "../models/state";
import { Usage } from "../models/Usage";
import type { Window } from "../models/sums";
import { useFresh } from "../models/useFresh";
import { useHeading } from "../models/useHeading";
import { useTests } from "../models/useTests";
import { AppBar } from "../ui/AppBar";
import { CodeBlock } from "../ui/CodeBlock";
import { Confirm } from "../ui/Confirm";
import { Icon } from "../ui/Icon";
import { Nothing } from "../ui/Nothing";
import { StreamBanner } from "../wall/StreamBanner";

/** Providers of models and their keys, what can be called, and what was used. */
export function Models({ onLogOut }: { onLogOut: () => void }) {
  const { scopes } = useIdentity();
  useEffect(() => {
    document.title = "Models · helmdeck";
  }, []);
  return (
    <div className="plain-page">
      <AppBar current="models" onLogOut={onLogOut} />
      <StreamBanner />
      <main className="models-page">
        {allows(scopes, "models:use") ? (
          <Gateway />
        ) : (
          <>
            <h1>Models</h1>
            <p className="lead muted">Your token lacks the permission to call models.</p>
          </>
        )}
      </main>
    </div>
  );
}

type Open =
  | { task: "add"; provider: string }
  | { task: "replace"; key: ProviderKey }
  | { task: "remove"; key: ProviderKey };

/** The provider whose key opens the most models. */
const usual = "openrouter";

function Gateway() {
  const { subject, scopes } = useIdentity();
  const isAdmin = allows(scopes, "admin");
  const mayChange = allows(scopes, "vault:write");
  const [window, setWindow] = useState<Window>("24h");
  const [caller, setCaller] = useState("");
  const [open, setOpen] = useState<Open | null>(null);
  const { tests, test, forget, put } = useTests();
  const now = useNow();

  const providers = useFresh(client.providers);
  const keys = useFresh(allows(scopes, "vault:read") ? client.providerKeys : null);
  const list = useFresh(client.models);
  const budget = useFresh(client.modelBudget);
  const budgets = useFresh(isAdmin ? client.modelBudgets : null);
  const usage = useFresh(useCallback(() => client.modelUsage(window, caller || undefined), [window, caller]));
  const error = [providers, keys, list, budget, budgets, usage].find((each) => each.error !== null)?.error ?? null;

  const heading = useHeading(open !== null);
  const reload = async () => {
    await Promise.all([providers.reload(), keys.reload()]);
    // A new list of models may take its time.
    void list.reload();
  };
  const reloadBudgets = async () => {
    await Promise.all([budgets.reload(), budget.reload()]);
  };
  const onStored = async (provider: string, result: KeyTest) => {
    put(provider, result);
    await reload();
  };
  const remove = async (key: ProviderKey) => {
    await client.deleteProviderKey(key.id);
    forget(key.provider);
    await reload();
  };
  const pin = async (vision_model: string) => {
    await client.changeSettings({ vision_model });
    await list.reload();
  };
  const add = (provider: string) => setOpen({ task: "add", provider });
  const close = () => setOpen(null);

  const loaded = providers.value !== null && (keys.value !== null || !allows(scopes, "vault:read"));
  const listed = listProviders(providers.value ?? [], keys.value ?? [], list.value?.problems ?? [], subject);
  const nothing = loaded && !providers.value?.some(({ available }) => available);
  const showUsage = !nothing || (usage.value?.rows.length ?? 0) > 0;

  return (
    <>
      <div className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          Models
        </h1>
        {mayChange && (
          <button type="button" className="primary" disabled={!loaded} onClick={() => add(listed.others[0]?.name ?? usual)}>
            <Icon name="plus" /> Add key
          </button>
        )}
      </div>
      <p className="lead muted">
        Agents call models through this server, with keys that they never see. Each call is counted and limited by a
        budget; prompts and answers are not recorded.
      </p>
      {error !== null && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      {!loaded && error === null && <span className="spinner" role="status" aria-label="Loading" />}
      {nothing && <NoKey onAdd={mayChange ? () => add(usual) : undefined} />}
      {loaded && (
        <section aria-labelledby="providers">
          <h2 id="providers">Providers</h2>
          <ProviderTable
            rows={listed.rows}
            now={now}
            tests={tests}
            onTest={({ name }) => void test(name).then(reload)}
            onTask={mayChange ? (task, key) => setOpen({ task, key }) : undefined}
          />
          <OtherProviders providers={listed.others} onAdd={mayChange ? add : undefined} />
        </section>
      )}
      {loaded && list.value && budget.value && (
        <div className="model-cards">
          <DefaultModel list={list.value} providers={providers.value ?? []} />
          <VisionModel list={list.value} providers={providers.value ?? []} onPin={isAdmin ? pin : null} />
          <OwnBudget budget={budget.value} />
        </div>
      )}
      {loaded && showUsage && (
        <Usage
          usage={usage.value}
          window={window}
          onWindow={setWindow}
          caller={caller}
          callers={callersOf(subject, caller, budgets.value ?? [])}
          onCaller={setCaller}
          now={now}
        />
      )}
      {loaded && !nothing && (
        <section aria-labelledby="models">
          <div className="section-head">
            <h2 id="models">Models to call</h2>
            <p className="muted hint">Prices are dollars for a million tokens.</p>
          </div>
          {list.value === null ? (
            <span className="spinner" role="status" aria-label="Loading" />
          ) : list.value.models.length === 0 ? (
            <p className="muted hint">No provider lists a model.</p>
          ) : (
            <ModelTable list={list.value} />
          )}
        </section>
      )}
      {budgets.value && <Budgets budgets={budgets.value} onChanged={reloadBudgets} />}
      {(open?.task === "add" || open?.task === "replace") && (
        <KeyDialog
          providers={providers.value ?? []}
          keys={keys.value ?? []}
          provider={open.task === "add" ? open.provider : open.key.provider}
          replaced={open.task === "replace" ? open.key : null}
          onStored={onStored}
          onClose={close}
        />
      )}
      {open?.task === "remove" && (
        <Confirm title="Remove key?" action="Remove" danger onConfirm={() => remove(open.key)} onClose={close}>
          <p>
            The next call does without the key of <b>{titleOf(open.key.provider)}</b>. It cannot be brought back; revoke
            it at the provider as well if it may have leaked.
          </p>
        </Confirm>
      )}
    </>
  );
}

/** Callers to choose from: the person, and those with budgets. */
function callersOf(subject: string, chosen: string, budgets: ModelBudget[]): string[] {
  return [...new Set([subject, ...(chosen ? [chosen] : []), ...budgets.map(({ caller }) => caller)])];
}

function NoKey({ onAdd }: { onAdd: (() => void) | undefined }) {
  return (
    <Nothing icon="model" title="No model can be called yet">
      <p className="muted">
        Add the key of a provider. With one of OpenRouter, agents can call models of every large vendor. An Ollama on
        the server’s machine needs no key and is found by itself.
      </p>
      <CodeBlock text="helmdeck models add-key openrouter" what="command" caption="On the server" />
      {onAdd && (
        <button type="button" className="primary" onClick={onAdd}>
          <Icon name="plus" /> Add key
        </button>
      )}
    </Nothing>
  );
}
