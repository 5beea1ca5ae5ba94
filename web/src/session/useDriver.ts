import { useCallback, useState } from "react";
import { allows } from "../api/client";
import type { Control, Role, Session } from "../api/wire";
import { useIdentity } from "../identity";
import { useSessions } from "../sessions/provider";
import { holderOf } from "../sessions/name";
import { isOver } from "../sessions/state";

export interface Driver {
  over: boolean;
  /** There is a picture to connect to. */
  watchable: boolean;
  /** The person's token allows to act. */
  mayDrive: boolean;
  /** In which role to watch. */
  role: Role;
  driving: boolean;
  /** Another person who drives by hand. */
  holder: string | null;
  onControl: (control: Control) => void;
  /** From now on only watch: the other role was refused. */
  onlyWatch: () => void;
}

/** What somebody may do with a session that they look at, and whether they drive it now. */
export function useDriver(session: Session, gone: boolean): Driver {
  const { scopes } = useIdentity();
  const { note } = useSessions();
  const mayDrive = allows(scopes, "sessions:act");
  // Already watching in the role of a driver makes taking control a matter of one request.
  const [role, setRole] = useState<Role>(mayDrive ? "control" : "view");
  const over = gone || isOver(session);
  const watchable = !over && session.status !== "starting";
  const driving = watchable && role === "control" && session.control.driver === "human" && session.control.yours;
  const { control } = session;
  const holder = control.driver === "human" && !control.yours ? holderOf(control) : null;
  const onControl = (control: Control) => note({ kind: "control", sessionId: session.id, control });
  const onlyWatch = useCallback(() => setRole("view"), []);
  return { over, watchable, mayDrive, role, driving, holder, onControl, onlyWatch };
}
