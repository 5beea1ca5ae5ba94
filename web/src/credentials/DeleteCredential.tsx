import { client } from "../api/client";
import type { Credential } from "../api/wire";
import { Confirm } from "../ui/Confirm";

interface DeleteCredentialProps {
  credential: Credential;
  onDeleted: () => Promise<void>;
  onClose: () => void;
}

export function DeleteCredential({ credential, onDeleted, onClose }: DeleteCredentialProps) {
  const remove = async () => {
    await client.deleteCredential(credential.id);
    await onDeleted();
  };
  return (
    <Confirm title="Delete credential?" action="Delete" danger onConfirm={remove} onClose={onClose}>
      <p>
        Agents can no longer use <b>{credential.name}</b>. Its secret cannot be brought back; revoke it at the service as
        well if it may have leaked.
      </p>
    </Confirm>
  );
}
