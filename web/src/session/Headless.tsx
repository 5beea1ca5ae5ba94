import { allows } from "../api/client";
import type { Session } from "../api/wire";
import { useIdentity } from "../identity";
import { isOver } from "../sessions/state";
import { Icon } from "../ui/Icon";
import { AgentBanner } from "./AgentBanner";
import { useDrop } from "./drop";
import { DropHere } from "./DropHere";
import { Ending } from "./Ending";
import { home } from "./files";
import { UploadTray } from "./UploadTray";
import type { Uploads } from "./useUploads";

interface HeadlessProps {
  session: Session;
  gone: boolean;
  uploads: Uploads;
}

/** What stands where other sessions have their picture. */
export function Headless({ session, gone, uploads }: HeadlessProps) {
  const { scopes } = useIdentity();
  const over = gone || isOver(session);
  const mayPut = !over && session.status !== "starting" && allows(scopes, "sessions:act");
  const drop = useDrop((dropped) => uploads.put(home, dropped), mayPut);
  return (
    <div className="theatre">
      <div className="stage" {...drop.listeners}>
        {over ? (
          <Ending session={session} />
        ) : (
          <div className="card headless">
            <Icon name="terminal" />
            <h2>No desktop to watch</h2>
            <p className="muted">
              This session is headless: a browser without a screen. Its actions, files, facts and logs are in the
              panel. For a picture, create a session in desktop mode.
            </p>
          </div>
        )}
        <AgentBanner status={session.agent_status} />
        <UploadTray uploads={uploads} />
        {drop.over && <DropHere text="Drop to put into the session's home" />}
      </div>
    </div>
  );
}
