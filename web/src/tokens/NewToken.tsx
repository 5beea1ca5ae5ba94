import { useEffect, useRef, useState, type FormEvent } from "react";
import { allows, client, explain } from "../api/client";
import type { CreatedToken } from "../api/wire";
import { useIdentity } from "../identity";
import { CodeBlock } from "../ui/CodeBlock";
import { Dialog } from "../ui/Dialog";
import { lifetimes, usualLifetime } from "./lifetime";
import { permissions, usual } from "./scope";
import { readToken } from "./state";

interface NewTokenProps {
  onCreated: () => void;
  onClose: () => void;
}

/** Asks what a token is for and what it may do, and shows it once. */
export function NewToken({ onCreated, onClose }: NewTokenProps) {
  const [created, setCreated] = useState<(CreatedToken & { label: string }) | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const request = readToken(new FormData(event.currentTarget));
    if (request.scopes?.length === 0) return setError("Choose at least one permission.");
    setBusy(true);
    setError(null);
    try {
      setCreated({ ...(await client.createToken(request)), label: request.label });
      onCreated();
    } catch (caught) {
      setError(explain(caught));
    }
    setBusy(false);
  };

  return created ? (
    // A click beside it must not close the only view of the token.
    <Dialog key="created" title="Token created" onClose={onClose} stays>
      <Shown token={created.token} label={created.label} onClose={onClose} />
    </Dialog>
  ) : (
    <Dialog key="new" title="New token" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Label
          <input
            name="label"
            required
            maxLength={100}
            data-autofocus
            autoComplete="off"
            placeholder="Which program uses it"
          />
        </label>
        <Permissions />
        <label>
          Expires
          <select name="ttl_s" defaultValue={usualLifetime}>
            {lifetimes.map(({ seconds, text }) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        </label>
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
            {busy ? "Creating…" : "Create token"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function Permissions() {
  const { scopes } = useIdentity();
  const [everything, setEverything] = useState(false);
  return (
    <fieldset className="choice list">
      <legend>Permissions</legend>
      {permissions.map(({ scope, text, hint }) => (
        <label key={scope}>
          <input type="checkbox" name="scope" value={scope} defaultChecked={usual.includes(scope)} disabled={everything} />
          <span>
            <b>{text}</b> {hint}
          </span>
        </label>
      ))}
      {allows(scopes, "admin") && (
        <label>
          <input
            type="checkbox"
            name="everything"
            checked={everything}
            onChange={(event) => setEverything(event.target.checked)}
          />
          <span>
            <b>Everything</b> Settings, tokens, and the sessions of all owners. Not for agents.
          </span>
        </label>
      )}
    </fieldset>
  );
}

function Shown({ token, label, onClose }: { token: string; label: string; onClose: () => void }) {
  const done = useRef<HTMLButtonElement>(null);
  useEffect(() => done.current?.focus(), []);
  return (
    <div className="dialog-body">
      <p>
        Copy the token of <b>{label}</b> now. It is not shown again.
      </p>
      <CodeBlock text={token} what="token" caption="Token" whole />
      <footer>
        <button type="button" className="primary" ref={done} onClick={onClose}>
          Done
        </button>
      </footer>
    </div>
  );
}
