import { useEffect, useState } from "react";
import { client, explain } from "../api/client";
import type { Credential, CredentialUsage } from "../api/wire";
import { useNow } from "../clock";
import { ago, dateAndTime } from "../format";
import { Dialog } from "../ui/Dialog";
import { results } from "./state";

/** The newest attempts to use a credential. */
export function Usage({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const [usage, setUsage] = useState<CredentialUsage[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const now = useNow();
  useEffect(() => {
    client.usage(credential.id).then(setUsage, (caught: unknown) => setError(explain(caught)));
  }, [credential.id]);
  return (
    <Dialog title={`Usage of ${credential.name}`} onClose={onClose}>
      <div className="dialog-body">
        {error !== null && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        {usage === null && error === null && <span className="spinner" role="status" aria-label="Loading" />}
        {usage?.length === 0 && <p className="muted">It has not been used.</p>}
        {usage !== null && usage.length > 0 && (
          // In the tab order, because the arrow keys scroll it.
          <ol className="usage" tabIndex={0} aria-label="Newest attempts">
            {usage.map((each) => (
              <li key={each.id} data-result={each.result}>
                <b>{results[each.result]}</b>
                <time dateTime={each.timestamp} title={dateAndTime(each.timestamp)} className="muted">
                  {ago(each.timestamp, now)}
                </time>
                <code>{each.host_matched + each.path_matched}</code>
                <span className="muted">{[each.actor_subject, each.actor_client].filter(Boolean).join(", ")}</span>
              </li>
            ))}
          </ol>
        )}
        <footer>
          <button type="button" data-autofocus onClick={onClose}>
            Close
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
