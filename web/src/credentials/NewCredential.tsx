import { useState, type FormEvent } from "react";
import { client, explain } from "../api/client";
import type { CredentialType } from "../api/wire";
import { Dialog } from "../ui/Dialog";
import { SecretField } from "./SecretField";
import { readCredential, services, types } from "./state";

interface NewCredentialProps {
  onAdded: () => Promise<void>;
  onClose: () => void;
}

/** Asks for a credential: what it is called, where it may go, and its secret. */
export function NewCredential({ onAdded, onClose }: NewCredentialProps) {
  const [type, setType] = useState<CredentialType>("api_key");
  const [name, setName] = useState("");
  const [host, setHost] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  const choose = (text: string) => {
    const service = services.find((each) => each.text === text);
    setName(service?.name ?? "");
    setHost(service?.host ?? "");
    setType("api_key");
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await client.addCredential(readCredential(new FormData(event.currentTarget)));
      await onAdded();
      onClose();
    } catch (caught) {
      setError(explain(caught));
      setBusy(false);
    }
  };

  return (
    <Dialog title="Add credential" onClose={onClose} stays>
      <form onSubmit={(event) => void submit(event)}>
        <div className="columns">
          <label>
            Service
            <select data-autofocus onChange={(event) => choose(event.target.value)}>
              <option>Other</option>
              {services.map(({ text }) => (
                <option key={text}>{text}</option>
              ))}
            </select>
          </label>
          <label>
            Type
            <select name="type" value={type} onChange={(event) => setType(event.target.value as CredentialType)}>
              {types.map((each) => (
                <option key={each.type} value={each.type}>
                  {each.text}
                </option>
              ))}
            </select>
          </label>
        </div>
        <label>
          Name
          <input
            name="name"
            required
            maxLength={64}
            pattern="[A-Za-z0-9_.\-]+"
            title="Letters, digits, - _ and ."
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="github-token"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <div className="columns">
          <label>
            Host
            <input
              name="host_pattern"
              required
              maxLength={260}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              placeholder="api.example.com"
              value={host}
              onChange={(event) => setHost(event.target.value)}
            />
          </label>
          <label>
            <span>
              Path <span className="muted">optional</span>
            </span>
            <input name="path_pattern" maxLength={1000} autoComplete="off" autoCapitalize="none" spellCheck={false} placeholder="/v1" />
          </label>
        </div>
        <p className="muted hint">
          The secret is sent to this host and to no other. <code>*.example.com</code> allows all subdomains.
        </p>
        <SecretField type={type} label="Secret" />
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
            {busy ? "Adding…" : "Add credential"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
