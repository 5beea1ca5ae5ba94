import type { ReactNode } from "react";
import type { Session } from "../api/wire";
import { Link } from "../router";
import { nameOf } from "../sessions/name";
import { isOver } from "../sessions/state";
import { Icon } from "../ui/Icon";
import { StatusBadge } from "../ui/StatusBadge";
import { LifeLeft } from "./LifeLeft";

/** The header of the session page: the way back, the title, and the actions. */
export function Toolbar({ session, children }: { session: Session; children: ReactNode }) {
  const name = nameOf(session);
  return (
    <header className="bar toolbar">
      <Link className="icon-button quiet button" to="" title="All sessions" aria-label="All sessions">
        <Icon name="back" />
      </Link>
      <div className="toolbar-title">
        <h1 title={name}>{name}</h1>
        {name !== session.id && <code className="muted">{session.id}</code>}
      </div>
      <div className="toolbar-state">
        <StatusBadge session={session} />
        {!isOver(session) && <LifeLeft session={session} />}
      </div>
      <span className="room" />
      <div className="toolbar-actions">{children}</div>
    </header>
  );
}
