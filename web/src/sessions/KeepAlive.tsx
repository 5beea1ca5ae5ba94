import { useState } from "react";
import { allows, client, explain } from "../api/client";
import type { Session } from "../api/wire";
import { useNow } from "../clock";
import { countdown } from "../format";
import { useIdentity } from "../identity";
import { idleWarning } from "./deadline";
import { useSessions } from "./provider";

/** Postpones the end of an idle session. */
export function KeepAliveButton({ session, className = "" }: { session: Session; className?: string }) {
  const { note } = useSessions();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const keep = async () => {
    setBusy(true);
    setError(null);
    try {
      const { idle_ends_at } = await client.keepAlive(session.id);
      note({ kind: "idle", sessionId: session.id, idleEndsAt: idle_ends_at ?? null });
    } catch (caught) {
      setError(explain(caught));
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" className={className} disabled={busy} onClick={() => void keep()}>
        Keep alive
      </button>
      {error && (
        <span className="error" role="alert">
          {error}
        </span>
      )}
    </>
  );
}

/** Warns before an idle session ends. */
export function IdleWarning({ session }: { session: Session }) {
  const { scopes } = useIdentity();
  const now = useNow();
  const left = idleWarning(session, now);
  // Always rendered, so that screen readers announce the text; the seconds are not read out.
  return (
    <div className="idle-warning-slot" role="alert">
      {left !== null && (
        <div className="idle-warning">
          <span>
            Not in use. Ends{" "}
            <b className="tabular" aria-hidden="true">
              in {countdown(left)}
            </b>
            <span className="off-screen">soon</span>
          </span>
          {allows(scopes, "sessions:act") && <KeepAliveButton session={session} className="primary" />}
        </div>
      )}
    </div>
  );
}
