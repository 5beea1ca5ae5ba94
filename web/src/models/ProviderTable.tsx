import type { Provider, ProviderKey } from "../api/wire";
import { ago, dateAndTime } from "../format";
import { useIdentity } from "../identity";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { hostOf, takesKey, testWords, titleOf, type ProviderRow, type ProviderState } from "./state";
import type { Tests } from "./useTests";

export type KeyTask = "replace" | "remove";

const words: Record<ProviderState, string> = {
  ready: "Ready",
  failing: "Failing",
  absent: "Not found",
  spare: "Not used by you",
};

interface ProviderTableProps {
  rows: ProviderRow[];
  now: number;
  tests: Tests;
  onTest: (provider: Provider) => void;
  /** Not given to those who may not change keys. */
  onTask?: ((task: KeyTask, key: ProviderKey) => void) | undefined;
}

/** Providers and their keys, one to a row; on a phone, one to a card. */
export function ProviderTable({ rows, ...rest }: ProviderTableProps) {
  return (
    <table className="table providers" aria-label="Providers">
      <thead>
        <tr>
          <th scope="col">Provider</th>
          <th scope="col">State</th>
          <th scope="col">Key</th>
          <th scope="col">Last used</th>
          <th scope="col">
            <span className="off-screen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={`${row.provider.name} ${row.key?.id ?? ""}`} row={row} {...rest} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, now, tests, onTest, onTask }: Omit<ProviderTableProps, "rows"> & { row: ProviderRow }) {
  const { provider, key, state } = row;
  const title = titleOf(provider.name);
  const testing = tests[provider.name] === "busy";
  const changeable = onTask && key?.source === "vault";
  return (
    <tr>
      <th scope="row">
        <span className="table-title">{title}</span>
        <code className="muted">{hostOf(provider.url)}</code>
      </th>
      <td data-label="State">
        <State row={row} tests={tests} />
      </td>
      <td data-label="Key">
        <KeyWords provider={provider} keyShown={key} />
      </td>
      <td data-label="Last used" data-empty={key?.source !== "vault"}>
        {key?.last_used_at ? (
          <time dateTime={key.last_used_at} title={dateAndTime(key.last_used_at)}>
            {ago(key.last_used_at, now)}
          </time>
        ) : (
          <span className="muted">{key?.source === "vault" ? "never" : "–"}</span>
        )}
      </td>
      <td className="table-actions">
        <span className="provider-actions">
          {state !== "spare" && (
            <button type="button" className="quiet" disabled={testing} onClick={() => onTest(provider)}>
              {testing ? "Testing…" : "Test"}
              <span className="off-screen"> {title}</span>
            </button>
          )}
          {changeable && (
            <Menu icon="more" label={`Manage the key of ${title}`}>
              {(close) => (
                <>
                  <button type="button" className="quiet" onClick={() => (close(), onTask("replace", key))}>
                    Replace the key…
                  </button>
                  <button type="button" className="quiet danger-text" onClick={() => (close(), onTask("remove", key))}>
                    Remove the key…
                  </button>
                </>
              )}
            </Menu>
          )}
        </span>
      </td>
    </tr>
  );
}

function State({ row: { provider, state, problem }, tests }: { row: ProviderRow; tests: Tests }) {
  const test = state === "spare" ? undefined : tests[provider.name];
  const tested = test === undefined || test === "busy" ? null : test;
  // What was just tested is newer than the list.
  const shown = tested === null ? state : tested.ok ? "ready" : state === "absent" ? "absent" : "failing";
  return (
    <div className="provider-state">
      <span className="badge" data-provider={shown}>
        <span className="light" />
        {words[shown]}
      </span>
      <span role="status" className={tested?.ok === false ? "trouble" : "muted"}>
        {tested ? testWords(tested, provider) : null}
      </span>
      {tested === null && problem !== null && (
        <span className={state === "failing" ? "trouble" : "muted"}>{problem}</span>
      )}
    </div>
  );
}

/** Where the key is, and which one. */
function KeyWords({ provider, keyShown: key }: { provider: Provider; keyShown: ProviderKey | null }) {
  const { subject } = useIdentity();
  if (!takesKey(provider)) return <span className="muted">Needs none</span>;
  if (key === null) {
    if (provider.key === "environment") return <>In the server’s environment</>;
    return provider.key === "vault" ? <>Shared by an admin</> : <span className="muted">None set</span>;
  }
  const whose = key.owner === subject ? "yours" : `of ${key.owner}`;
  return (
    <span className="provider-key">
      <span>
        {key.source === "environment" ? "In the server’s environment" : `In the vault, ${whose}`}
        {key.label && <span className="muted"> · {key.label}</span>}
      </span>
      <code className="muted" title="Differs for different keys; it tells nothing about the key itself">
        {key.fingerprint}
      </code>
    </span>
  );
}

interface OthersProps {
  providers: Provider[];
  /** Not given to those who may not add keys. */
  onAdd?: ((provider: string) => void) | undefined;
}

/** Providers that lack a key. */
export function OtherProviders({ providers, onAdd }: OthersProps) {
  if (providers.length === 0) return null;
  return (
    <div className="other-providers" role="group" aria-label="Providers without a key">
      <span className="muted">Without a key:</span>
      {providers.map(({ name }) =>
        onAdd ? (
          <button key={name} type="button" onClick={() => onAdd(name)}>
            <Icon name="plus" /> <span className="off-screen">Add a key of </span>
            {titleOf(name)}
          </button>
        ) : (
          <span key={name} className="mark">
            {titleOf(name)}
          </span>
        ),
      )}
    </div>
  );
}
