import { useEffect, useRef, useState } from "react";
import type { Token } from "../api/wire";
import { useNow } from "../clock";
import { Link } from "../router";
import { NewToken } from "../tokens/NewToken";
import { RevokeToken } from "../tokens/RevokeToken";
import { sortTokens } from "../tokens/state";
import { TokenTable } from "../tokens/TokenTable";
import { useTokens } from "../tokens/useTokens";
import { AppBar } from "../ui/AppBar";
import { Icon } from "../ui/Icon";
import { Nothing } from "../ui/Nothing";
import { StreamBanner } from "../wall/StreamBanner";

/** Who can use the server, and until when. */
export function Tokens({ onLogOut }: { onLogOut: () => void }) {
  const { tokens, error, reload } = useTokens();
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);

  useEffect(() => {
    document.title = "Tokens · helmdeck";
  }, []);
  // The button that opened the dialog goes with its row, and the dialog lets nothing outside have the focus.
  const rowGone = useRef(false);
  useEffect(() => {
    if (revoking === null && rowGone.current) heading.current?.focus();
    rowGone.current = false;
  }, [revoking]);
  const onRevoked = async () => {
    await reload();
    rowGone.current = true;
  };

  return (
    <div className="plain-page">
      <AppBar current="tokens" onLogOut={onLogOut} />
      <StreamBanner />
      <main className="tokens-page">
        <div className="page-head">
          <h1 ref={heading} tabIndex={-1}>
            Tokens
          </h1>
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            <Icon name="plus" /> New token
          </button>
        </div>
        <p className="lead muted">
          A token lets a program use this server. Give each agent its own: then you see what each one does, and can
          revoke one without the others.
        </p>
        {error !== null && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        {tokens === null ? (
          error === null && <span className="spinner" role="status" aria-label="Loading" />
        ) : (
          <Groups tokens={tokens} onRevoke={setRevoking} />
        )}
      </main>
      {creating && <NewToken onCreated={() => void reload()} onClose={() => setCreating(false)} />}
      {revoking && <RevokeToken token={revoking} onRevoked={onRevoked} onClose={() => setRevoking(null)} />}
    </div>
  );
}

function Groups({ tokens, onRevoke }: { tokens: Token[]; onRevoke: (token: Token) => void }) {
  const now = useNow();
  const { programs, people, over } = sortTokens(tokens, now);
  return (
    <>
      <section>
        <h2>Agents and programs</h2>
        {programs.length === 0 ? (
          <Nothing icon="token" title="No agent has a token yet">
            <p className="muted">
              <i>Connect</i> makes one for an agent that you choose and shows how to use it. <i>New token</i> makes one
              for a program of your own.
            </p>
            <Link className="button" to="connect">
              <Icon name="connect" /> Connect an agent
            </Link>
          </Nothing>
        ) : (
          <TokenTable label="Tokens of agents and programs" tokens={programs} now={now} onRevoke={onRevoke} />
        )}
      </section>
      {people.length > 0 && (
        <section>
          <h2>People</h2>
          <TokenTable label="Tokens of people" tokens={people} now={now} onRevoke={onRevoke} />
        </section>
      )}
      {over.length > 0 && (
        <details className="tokens-over">
          <summary>Expired and revoked ({over.length})</summary>
          <TokenTable label="Expired and revoked tokens" tokens={over} now={now} />
        </details>
      )}
    </>
  );
}
