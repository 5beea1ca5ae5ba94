import { client } from "../api/client";
import type { Session } from "../api/wire";
import { nameOf } from "../sessions/name";
import { Confirm } from "../ui/Confirm";

/** Asks for confirmation before ending a session, because everything in it is lost. */
export function EndSession({ session, onClose }: { session: Session; onClose: () => void }) {
  return (
    <Confirm
      title="End this session?"
      action="End session"
      danger
      onConfirm={() => client.end(session.id)}
      onClose={onClose}
    >
      <p>
        <b>{nameOf(session)}</b> stops at once. Its programs and files are gone, and the agent's next call fails.
      </p>
    </Confirm>
  );
}
