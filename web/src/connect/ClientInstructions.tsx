import { useEffect, useRef, useState, type ReactNode, type Ref } from "react";
import { client, explain } from "../api/client";
import type { ClientConnection, ConnectClient, ConnectRequest, ConnectStep, Instructions } from "../api/wire";
import { useNow } from "../clock";
import { Prose } from "../docs/Prose";
import { ago, capital, dateAndTime } from "../format";
import { Link } from "../router";
import { useSessions } from "../sessions/provider";
import { CodeBlock } from "../ui/CodeBlock";
import { Icon } from "../ui/Icon";
import { byTime, connectedBy, madeWith, nameInSentence, nameOf } from "./connection";
import { ConnectionStatus } from "./ConnectionStatus";
import { FileBlock } from "./FileBlock";
import { kindOf } from "./kind";
import { TokenForm } from "./TokenForm";

interface ClientInstructionsProps {
  clientId: string;
  /** Null until they are known. */
  clients: ConnectClient[] | null;
}

/** How to connect one program: a token, what to do with it, and whether it worked. */
export function ClientInstructions({ clientId, clients }: ClientInstructionsProps) {
  const [instructions, setInstructions] = useState<Instructions | null>(null);
  const [error, setError] = useState<string | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const created = useRef<HTMLHeadingElement>(null);
  const known = clients?.find(({ id }) => id === clientId);
  const title = nameInSentence(clientId, instructions?.title ?? known?.title);
  // The token is only in this state: it is gone when the page closes.
  const token = instructions?.token ?? null;
  const connected = useConnected(instructions?.token_id ?? null, clients);

  useEffect(() => {
    heading.current?.focus();
    client.instructions(clientId).then(setInstructions, (caught: unknown) => setError(explain(caught)));
  }, [clientId]);
  useEffect(() => {
    document.title = `Connect ${title} · helmdeck`;
  }, [title]);
  useEffect(() => {
    if (token !== null) created.current?.focus();
  }, [token]);

  const create = async (request: ConnectRequest) => {
    setError(null);
    try {
      setInstructions(await client.connect(clientId, request));
    } catch (caught) {
      setError(explain(caught));
    }
  };

  const { icon, text } = kindOf(clientId);
  return (
    <>
      <Link className="button quiet all-clients" to="connect">
        <Icon name="back" /> All agents
      </Link>
      <div className="client-head">
        <span className="client-icon">
          <Icon name={icon} />
        </span>
        <div>
          <h1 ref={heading} tabIndex={-1}>
            Connect {title}
          </h1>
          <p className="muted">{text}</p>
        </div>
      </div>
      {known && token === null && <Others connected={known.connected} />}
      {instructions === null && error === null && <span className="spinner" role="status" aria-label="Loading" />}
      {instructions === null ? (
        <p className="error" role="alert">
          {error}
        </p>
      ) : (
        <ol className="steps">
          <Step title={token === null ? "Create a token" : "Token created"} heading={created}>
            {token === null ? (
              <>
                <p>
                  {capital(title)} signs in with its own token. Once it is created, the steps below contain it in place of{" "}
                  <code>$HELMDECK_TOKEN</code>.
                </p>
                <TokenForm title={instructions.title} profile={instructions.profile} onCreate={create} />
                {error && (
                  <p className="error" role="alert">
                    {error}
                  </p>
                )}
              </>
            ) : (
              <>
                <p>
                  The steps below contain it. It is shown only now; you can{" "}
                  <Link to="tokens">revoke it under Tokens</Link> at any time.
                </p>
                <CodeBlock
                  text={token}
                  what="token"
                  caption={instructions.expires_at ? `Expires ${dateAndTime(instructions.expires_at)}` : "Token"}
                  whole
                />
              </>
            )}
          </Step>
          {instructions.steps.map((step) => (
            <Step key={step.title} title={step.title}>
              <StepBody step={step} />
            </Step>
          ))}
        </ol>
      )}
      {token !== null && <ConnectionStatus title={title} connected={connected} />}
      {instructions && (
        <footer className="client-more muted">
          <Prose text={`To disconnect: ${instructions.undo}`} />
          <Prose text={`More: \`${instructions.docs}\` in the repository of helmdeck.`} />
        </footer>
      )}
    </>
  );
}

/** The program that connected with a token, as the event tells; after a pause of the stream, as the list does. */
function useConnected(tokenId: string | null, clients: ConnectClient[] | null): ClientConnection | null {
  const { subscribe } = useSessions();
  const [connected, setConnected] = useState<ClientConnection | null>(null);
  useEffect(() => {
    setConnected(null);
    if (tokenId === null) return;
    return subscribe((event) => setConnected((old) => connectedBy(event, tokenId) ?? old));
  }, [tokenId, subscribe]);
  return connected ?? (tokenId === null ? null : madeWith(clients, tokenId));
}

interface StepProps {
  title: string;
  heading?: Ref<HTMLHeadingElement>;
  children: ReactNode;
}

function Step({ title, heading, children }: StepProps) {
  return (
    <li className="step">
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </li>
  );
}

function StepBody({ step: { text, command, file } }: { step: ConnectStep }) {
  return (
    <>
      {text && <Prose text={text} />}
      {command && <CodeBlock text={command} what="command" caption="Terminal" />}
      {file && <FileBlock file={file} />}
    </>
  );
}

const mostOthers = 3;

/** What has connected before, with other tokens. */
function Others({ connected }: Pick<ConnectClient, "connected">) {
  const now = useNow();
  if (connected.length === 0) return null;
  return (
    <section className="connections" aria-label="Already connected">
      <ul>
        {byTime(connected)
          .slice(0, mostOthers)
          .map((connection) => (
            <li key={connection.token_id}>
              <span className="badge" data-status="running">
                <span className="light" />
                {nameOf(connection)}
              </span>
              <span className="muted">
                {connection.label && `${connection.label} · `}
                {ago(connection.last_seen, now)}
              </span>
            </li>
          ))}
      </ul>
      <p className="muted">
        Already connected. Create one token for each machine; <Link to="tokens">Tokens</Link> lists them.
      </p>
    </section>
  );
}
