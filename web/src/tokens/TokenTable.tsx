import type { Token } from "../api/wire";
import { nameOf } from "../connect/connection";
import { ago, ahead, dateAndTime } from "../format";
import { inWords } from "./scope";
import { detailOf, endOf, expiresSoon, titleOf } from "./state";

interface TokenTableProps {
  /** Names the table. */
  label: string;
  tokens: Token[];
  now: number;
  /** Not given where they no longer work. */
  onRevoke?: (token: Token) => void;
}

/** Tokens, one to a row; on a phone, one to a card. */
export function TokenTable({ label, tokens, now, onRevoke }: TokenTableProps) {
  return (
    <table className="table tokens" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Token</th>
          <th scope="col">Permissions</th>
          <th scope="col">Connected as</th>
          <th scope="col">Created</th>
          <th scope="col">Last used</th>
          {onRevoke ? (
            <>
              <th scope="col">Expires</th>
              <th scope="col">
                <span className="off-screen">Actions</span>
              </th>
            </>
          ) : (
            <th scope="col" colSpan={2}>
              Ended
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {tokens.map((token) => (
          <Row key={token.id} token={token} now={now} onRevoke={onRevoke} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  token: Token;
  now: number;
  onRevoke: ((token: Token) => void) | undefined;
}

function Row({ token, now, onRevoke }: RowProps) {
  const end = endOf(token, now);
  return (
    <tr>
      <th scope="row">
        <span className="table-title">{titleOf(token)}</span>
        <span className="muted">{detailOf(token)}</span>
      </th>
      <td data-label="Permissions">{inWords(token.scopes).join(", ")}</td>
      <td data-label="Connected as" data-empty={!token.mcp_client}>
        {token.mcp_client ? nameOf(token.mcp_client) : <span className="muted">–</span>}
      </td>
      <td data-label="Created">
        <Moment at={token.created_at}>{ago(token.created_at, now)}</Moment>
      </td>
      <td data-label="Last used">
        {token.last_used_at ? (
          <Moment at={token.last_used_at}>{ago(token.last_used_at, now)}</Moment>
        ) : (
          <span className="muted">never</span>
        )}
      </td>
      {end ? (
        <td data-label="Ended" colSpan={2}>
          {end.why === "revoked" ? "Revoked" : "Expired"} <Moment at={end.at}>{ago(end.at, now)}</Moment>
        </td>
      ) : (
        <td data-label="Expires" data-soon={expiresSoon(token, now)}>
          <Moment at={token.expires_at}>{ahead(token.expires_at, now)}</Moment>
        </td>
      )}
      {onRevoke && (
        <td className="table-actions">
          <button type="button" className="quiet danger-text" onClick={() => onRevoke(token)}>
            Revoke<span className="off-screen"> {titleOf(token)}</span>
          </button>
        </td>
      )}
    </tr>
  );
}

function Moment({ at, children }: { at: string; children: string }) {
  return (
    <time dateTime={at} title={dateAndTime(at)}>
      {children}
    </time>
  );
}
