import { useState, type FormEvent } from "react";
import { client, explain } from "../api/client";
import type { Credential } from "../api/wire";
import { Dialog } from "../ui/Dialog";
import { SecretField } from "./SecretField";
import { readSecret } from "./state";

interface RotateCredentialProps {
  credential: Credential;
  onRotated: () => Promise<void>;
  onClose: () => void;
}

/** Asks for the new secret of a credential. */
export function RotateCredential({ credential, onRotated, onClose }: RotateCredentialProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await client.rotateCredential(credential.id, readSecret(new FormData(event.currentTarget)));
      await onRotated();
      onClose();
    } catch (caught) {
      setError(explain(caught));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Replace the secret of ${credential.name}`} onClose={onClose} stays>
      <form onSubmit={(event) => void submit(event)}>
        <p>The next use takes the new secret. Who may use it does not change.</p>
        <SecretField type={credential.type} label="New secret" autoFocus />
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
            Replace
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
