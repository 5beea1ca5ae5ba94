import { allows } from "../api/client";
import type { Session } from "../api/wire";
import { useNow } from "../clock";
import { countdown } from "../format";
import { useIdentity } from "../identity";
import { shownDeadlineOf } from "../sessions/deadline";
import { KeepAliveButton } from "../sessions/KeepAlive";

/** The session's remaining time, with a button to postpone an idle end. */
export function LifeLeft({ session }: { session: Session }) {
  const { scopes } = useIdentity();
  const now = useNow();
  const deadline = shownDeadlineOf(session);
  if (deadline === null) return null;
  const left = deadline.at - now;
  const idle = deadline.why === "idle";
  return (
    <span className="life-left">
      <span
        className="muted tabular"
        data-soon={left < 60_000}
        title={idle ? "It ends then if it is not used" : "Time until its limit"}
      >
        {idle ? `Idle, ${countdown(left)} left` : `${countdown(left)} left`}
      </span>
      {idle && allows(scopes, "sessions:act") && <KeepAliveButton session={session} className="wide-only" />}
    </span>
  );
}
