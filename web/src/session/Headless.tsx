import type { Session } from "../api/wire";
import { isOver } from "../sessions/state";
import { Icon } from "../ui/Icon";
import { AgentBanner } from "./AgentBanner";
import { Ending } from "./Ending";

/** What stands where other sessions have their picture. */
export function Headless({ session, gone }: { session: Session; gone: boolean }) {
  return (
    <div className="theatre">
      <div className="stage">
        {gone || isOver(session) ? (
          <Ending session={session} />
        ) : (
          <div className="card headless">
            <Icon name="terminal" />
            <h2>No desktop to watch</h2>
            <p className="muted">
              This session is headless: a browser without a screen. Its actions, facts and logs are in the panel.
              For a picture, create a session in desktop mode.
            </p>
          </div>
        )}
        <AgentBanner status={session.agent_status} />
      </div>
    </div>
  );
}
