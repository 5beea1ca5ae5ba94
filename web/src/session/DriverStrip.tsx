import type { ReactNode } from "react";
import type { Session } from "../api/wire";
import { useNow } from "../clock";
import { span } from "../format";
import { driverIcon, holderOf } from "../sessions/name";
import { Icon } from "../ui/Icon";
import { KeyboardHint } from "../viewer/KeyboardHint";

interface DriverStripProps {
  session: Session;
  /** The session is over. */
  over: boolean;
  driving: boolean;
  /** Whether the picture has the keyboard. */
  focused: boolean;
  /** What receives the keys then. */
  to?: string;
  children?: ReactNode;
}

/** A line over the picture that shows who has control, and how to get the keyboard back. */
export function DriverStrip({ session, over, driving, focused, to, children }: DriverStripProps) {
  if (over) return null;
  const human = session.control.driver === "human";
  return (
    <div className="strip" data-driving={driving} data-human={human}>
      <Icon name={driverIcon(session)} />
      <span className="strip-text" role="status">
        {driving ? (
          <>
            <b>You are driving.</b> <KeyboardHint focused={focused} {...(to ? { to } : {})} />
          </>
        ) : (
          <Others session={session} />
        )}
      </span>
      {children}
    </div>
  );
}

function Others({ session }: { session: Session }) {
  const { control } = session;
  if (control.driver === "human") {
    return (
      <>
        <b>{holderOf(control)} is driving by hand</b>
        {control.since && <Since at={control.since} />}
      </>
    );
  }
  if (control.driver === "nobody") return <>No driver</>;
  return (
    <>
      {session.agent_acted_at ? "The agent drives" : "No agent has acted yet"}
      {control.message && (
        <span className="left-word">
          {" · "}
          {control.message_by ?? "The previous driver"} said: “{control.message}”
        </span>
      )}
    </>
  );
}

function Since({ at }: { at: string }) {
  const now = useNow();
  // Not announced every second.
  return (
    <span className="tabular" aria-hidden="true">
      {" "}
      for {span(now - Date.parse(at))}
    </span>
  );
}
