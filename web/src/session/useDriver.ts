import { useCallback, useState } from "react";
import { allows } from "../api/client";
import type { Control, Role, Session } from "../api/wire";
import { useIdentity } from "../identity";
import { useSessions } from "../sessions/provider";
import { holderOf } from "../sessions/name";
import { isOver } from "../sessions/state";

export interface Driver {
  over: boolean;
  /** Whether there is a picture to connect to. */
  watchable: boolean;
  /** Whether the person's token allows control. */
  mayDrive: boolean;
  /** The role of the connection. */
  role: Role;
  driving: boolean;
  /** Another person in control. */
  holder: string | null;
  onControl: (control: Control) => void;
  /** Only watch from now on: the other role was refused. */
  onlyWatch: () => void;
}

/** What a person may do with a session, and whether they have control. */
export function useDriver(session: Session, gone: boolean): Driver {
  const { scopes } = useIdentity();
  const { note } = useSessions();
  const mayDrive = allows(scopes, "sessions:act");
  // Connecting with the control role makes taking control a single request.
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
