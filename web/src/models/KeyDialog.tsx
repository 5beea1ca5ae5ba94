import { useEffect, useRef, useState, type FormEvent } from "react";
import { allows, client, explain } from "../api/client";
import type { KeyTest, Provider, ProviderKey } from "../api/wire";
import { useIdentity } from "../identity";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { takesKey, testWords, titleOf } from "./state";
import { testOf } from "./useTests";

interface KeyDialogProps {
  providers: Provider[];
  keys: ProviderKey[];
  /** The provider to begin with. */
  provider: string;
  /** The key to replace; null to add one. */
  replaced: ProviderKey | null;
  onStored: (provider: string, test: KeyTest) => Promise<void>;
  onClose: () => void;
}

/** Asks for a key, stores it, and asks the provider whether it accepts it. */
export function KeyDialog({ providers, keys, provider: first, replaced, onStored, onClose }: KeyDialogProps) {
  const { subject, scopes } = useIdentity();
  const [chosen, setChosen] = useState(first);
  const [result, setResult] = useState<{ key: ProviderKey; test: KeyTest } | null>(null);
  // Set when a stored key was refused and another one is tried.
  const [again, setAgain] = useState<ProviderKey | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  const isOwn = (key: ProviderKey) => key.provider === chosen && key.source === "vault" && key.owner === subject;
  const old = again ?? replaced ?? keys.find(isOwn) ?? null;
  const provider = providers.find(({ name }) => name === chosen);
  const title = titleOf(chosen);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const value = String(form.get("key") ?? "").trim();
    const label = String(form.get("label") ?? "").trim();
    setBusy(true);
    setError(null);
    try {
      const key = old
        ? await client.rotateProviderKey(old.id, value)
        : await client.addProviderKey({
            provider: chosen,
            key: value,
            ...(label === "" ? {} : { label }),
            ...(allows(scopes, "admin") ? { shared: form.get("shared") !== null } : {}),
          });
      const test = await testOf(chosen);
      await onStored(chosen, test);
      setResult({ key, test });
    } catch (caught) {
      setError(explain(caught));
    }
    setBusy(false);
  };

  if (result && provider) {
    return (
      <Dialog key="result" title={result.test.ok ? "Key stored" : "Key stored, but it does not work"} onClose={onClose} stays>
        <Result
          text={testWords(result.test, { ...provider, key: "vault" })}
          ok={result.test.ok}
          onAgain={() => (setAgain(result.key), setResult(null))}
          onClose={onClose}
        />
      </Dialog>
    );
  }
  return (
    <Dialog key="form" title={replaced ? `Replace the key of ${title}` : "Add key"} onClose={onClose} stays>
      <form onSubmit={(event) => void submit(event)}>
        {replaced === null && again === null && (
          <label>
            Provider
            <select value={chosen} onChange={(event) => setChosen(event.target.value)}>
              {providers.filter(takesKey).map(({ name }) => (
                <option key={name} value={name}>
                  {titleOf(name)}
                </option>
              ))}
            </select>
          </label>
        )}
        <div className="field">
          <label>
            {old ? "New key" : "Key"}
            <input
              name="key"
              type="password"
              required
              minLength={4}
              maxLength={65_536}
              autoComplete="off"
              spellCheck={false}
              data-autofocus
              data-1p-ignore
              data-lpignore="true"
              aria-describedby="key-hint"
            />
          </label>
          <span id="key-hint" className="muted hint">
            It is encrypted on disk and never shown again, not even to you. {old ? "The next call uses it." : ""}
          </span>
        </div>
        {old === null ? (
          <>
            <label>
              <span>
                Note <span className="muted">optional</span>
              </span>
              <input name="label" maxLength={100} autoComplete="off" placeholder="Whose account pays" />
            </label>
            {allows(scopes, "admin") ? (
              <label className="check shared-key">
                <input type="checkbox" name="shared" defaultChecked />
                <span>Share it with every caller who may call models</span>
              </label>
            ) : (
              <p className="muted hint">Only you can use it. It comes before a shared key.</p>
            )}
          </>
        ) : (
          !replaced && <p className="muted hint">It replaces the key of {title} that you have.</p>
        )}
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
            {busy ? `Asking ${title}…` : old ? "Replace and test" : "Add and test"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface ResultProps {
  text: string;
  ok: boolean;
  onAgain: () => void;
  onClose: () => void;
}

function Result({ text, ok, onAgain, onClose }: ResultProps) {
  const next = useRef<HTMLButtonElement>(null);
  useEffect(() => next.current?.focus(), []);
  return (
    <div className="dialog-body">
      <p className="key-result" data-ok={ok} role="status">
        <Icon name={ok ? "check" : "close"} /> <span>{text}</span>
      </p>
      <footer>
        {ok ? (
          <button type="button" className="primary" ref={next} onClick={onClose}>
            Done
          </button>
        ) : (
          <>
            <button type="button" onClick={onClose}>
              Keep it
            </button>
            <button type="button" className="primary" ref={next} onClick={onAgain}>
              Try another key
            </button>
          </>
        )}
      </footer>
    </div>
  );
}
