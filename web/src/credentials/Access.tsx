import { useCallback, useEffect, useState, type FormEvent } from "react";
import { client, explain } from "../api/client";
import type { Credential, CredentialGrant } from "../api/wire";
import { Dialog } from "../ui/Dialog";
import { granteeOf } from "./state";

/** Who may use a credential, and the form that lets others. */
export function Access({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const [grants, setGrants] = useState<CredentialGrant[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { id } = credential;

  const reload = useCallback(async () => setGrants(await client.grants(id)), [id]);
  const attempt = useCallback(
    async (change: () => Promise<unknown>) => {
      setError(null);
      try {
        await change();
        await reload();
      } catch (caught) {
        setError(explain(caught));
      }
    },
    [reload],
  );
  useEffect(() => void attempt(async () => {}), [attempt]);

  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const subject = String(fields.get("subject") ?? "").trim();
    const label = String(fields.get("label") ?? "").trim();
    void attempt(async () => {
      await client.grant(id, subject, label || null);
      form.reset();
    });
  };

  return (
    <Dialog title={`Who may use ${credential.name}`} onClose={onClose}>
      <div className="dialog-body access">
        <Grants grants={grants} onRevoke={(grant) => void attempt(() => client.revokeGrant(id, grant))} />
        {error && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        <form onSubmit={add}>
          <div className="columns">
            <label>
              Subject
              <input
                name="subject"
                required
                maxLength={200}
                data-autofocus
                autoComplete="off"
                autoCapitalize="none"
                placeholder="Owner of the tokens"
              />
            </label>
            <label>
              <span>
                Token label <span className="muted">optional</span>
              </span>
              <input name="label" maxLength={100} autoComplete="off" placeholder="All its tokens" />
            </label>
          </div>
          <p className="muted hint">
            <i>Tokens</i> lists subjects and labels. <code>*</code> as subject means everyone.
          </p>
          <footer>
            <button type="button" onClick={onClose}>
              Close
            </button>
            <button type="submit" className="primary">
              Grant
            </button>
          </footer>
        </form>
      </div>
    </Dialog>
  );
}

function Grants({ grants, onRevoke }: { grants: CredentialGrant[] | null; onRevoke: (grant: CredentialGrant) => void }) {
  if (grants === null) return <span className="spinner" role="status" aria-label="Loading" />;
  if (grants.length === 0) return <p className="muted">No caller may use it.</p>;
  return (
    <ul className="grants">
      {grants.map((grant) => (
        <li key={`${grant.actor_subject} ${grant.actor_client ?? ""}`}>
          <span>{granteeOf(grant)}</span>
          <button type="button" className="quiet danger-text" onClick={() => onRevoke(grant)}>
            Revoke<span className="off-screen"> {granteeOf(grant)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
