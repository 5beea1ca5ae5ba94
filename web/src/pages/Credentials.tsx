import { useEffect, useRef, useState } from "react";
import { allows } from "../api/client";
import type { Credential } from "../api/wire";
import { useNow } from "../clock";
import { Access } from "../credentials/Access";
import { CredentialTable, type Task } from "../credentials/CredentialTable";
import { DeleteCredential } from "../credentials/DeleteCredential";
import { NewCredential } from "../credentials/NewCredential";
import { RotateCredential } from "../credentials/RotateCredential";
import { placeholderOf, sortCredentials } from "../credentials/state";
import { Usage } from "../credentials/Usage";
import { useCredentials } from "../credentials/useCredentials";
import { useIdentity } from "../identity";
import { AppBar } from "../ui/AppBar";
import { Icon } from "../ui/Icon";
import { Nothing } from "../ui/Nothing";
import { StreamBanner } from "../wall/StreamBanner";

interface Open {
  task: Task;
  credential: Credential;
}

/** The secrets that agents use without seeing them. */
export function Credentials({ onLogOut }: { onLogOut: () => void }) {
  const { credentials, error, reload } = useCredentials();
  const { scopes } = useIdentity();
  const [adding, setAdding] = useState(false);
  const [open, setOpen] = useState<Open | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const rowGone = useRef(false);

  useEffect(() => {
    document.title = "Credentials · helmdeck";
  }, []);
  // The button that opened the dialog goes with its row.
  useEffect(() => {
    if (open === null && rowGone.current) heading.current?.focus();
    rowGone.current = false;
  }, [open]);
  const onDeleted = async () => {
    await reload();
    rowGone.current = true;
  };
  const close = () => setOpen(null);

  return (
    <div className="plain-page">
      <AppBar current="credentials" onLogOut={onLogOut} />
      <StreamBanner />
      <main className="tokens-page">
        <div className="page-head">
          <h1 ref={heading} tabIndex={-1}>
            Credentials
          </h1>
          {allows(scopes, "vault:write") && (
            <button type="button" className="primary" onClick={() => setAdding(true)}>
              <Icon name="plus" /> Add credential
            </button>
          )}
        </div>
        <p className="lead muted">
          Agents use these secrets without seeing them. An agent writes a placeholder such as{" "}
          <code>{placeholderOf("github-token")}</code>; the server puts the secret in its place if the agent may use it
          and the request goes to the credential’s host.
        </p>
        {error !== null && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        {credentials === null ? (
          error === null && <span className="spinner" role="status" aria-label="Loading" />
        ) : (
          <Groups
            credentials={credentials}
            onTask={allows(scopes, "vault:write") ? (task, credential) => setOpen({ task, credential }) : undefined}
          />
        )}
      </main>
      {adding && <NewCredential onAdded={reload} onClose={() => setAdding(false)} />}
      {open?.task === "rotate" && <RotateCredential credential={open.credential} onRotated={reload} onClose={close} />}
      {open?.task === "access" && <Access credential={open.credential} onClose={close} />}
      {open?.task === "usage" && <Usage credential={open.credential} onClose={close} />}
      {open?.task === "delete" && <DeleteCredential credential={open.credential} onDeleted={onDeleted} onClose={close} />}
    </div>
  );
}

interface GroupsProps {
  credentials: Credential[];
  onTask: ((task: Task, credential: Credential) => void) | undefined;
}

function Groups({ credentials, onTask }: GroupsProps) {
  const now = useNow();
  const { kept, environment } = sortCredentials(credentials);
  return (
    <>
      <section>
        {kept.length === 0 ? (
          <Nothing icon="lock" title="No credentials yet">
            <p className="muted">
              Add the key of a service, such as GitHub. It is encrypted on disk and never shown again, not even to you.
            </p>
          </Nothing>
        ) : (
          <CredentialTable label="Credentials" credentials={kept} now={now} {...(onTask ? { onTask } : {})} />
        )}
      </section>
      {environment.length > 0 && (
        <section>
          <h2>From the server’s environment</h2>
          <p className="muted hint">Every caller of this server can use these, for their host only.</p>
          <CredentialTable label="Credentials in the environment" credentials={environment} now={now} />
        </section>
      )}
    </>
  );
}
