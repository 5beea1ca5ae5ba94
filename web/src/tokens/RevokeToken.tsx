import { client } from "../api/client";
import type { Token } from "../api/wire";
import { nameOf } from "../connect/connection";
import { Confirm } from "../ui/Confirm";
import { titleOf } from "./state";

interface RevokeTokenProps {
  token: Token;
  onRevoked: () => Promise<void>;
  onClose: () => void;
}

export function RevokeToken({ token, onRevoked, onClose }: RevokeTokenProps) {
  const revoke = async () => {
    await client.revokeToken(token.id);
    await onRevoked();
  };
  return (
    <Confirm title="Revoke token?" action="Revoke" danger onConfirm={revoke} onClose={onClose}>
      <p>
        <b>{titleOf(token)}</b> stops working at once, and what was opened with it is closed. Sessions keep running.
        {token.mcp_client && ` ${nameOf(token.mcp_client)} needs a new token to connect again.`}
      </p>
    </Confirm>
  );
}
