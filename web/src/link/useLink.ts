import { useEffect, useReducer, useState } from "react";
import type { Session } from "../api/wire";
import type { StreamState } from "../events/source";
import { openEvents } from "../events/stream";
import { api } from "../prefix";
import { ended, type End } from "../sessions/end";
import { endingOf, holderOf } from "../sessions/name";
import { changeSessions, isOver, noSessions } from "../sessions/state";
import type { ViewerAddress } from "../viewer/address";

export interface SharedLink {
  address: ViewerAddress;
  /** The session, as far as the link allows. */
  session: Session | null;
  /** Whether events of the session still arrive. */
  stream: StreamState;
  /** Why the session is over; null while it is not. */
  over: string | null;
  started: boolean;
  start: () => void;
  /** Whether the person wants control. */
  take: boolean;
  setTake: (take: boolean) => void;
  /** Another person in control. */
  holder: string | null;
  /** Takes control; null if the link only allows watching, or another person has control. */
  onTake: (() => void) | null;
}

/** The state of a person with a link. */
export function useLink(address: ViewerAddress): SharedLink {
  const [started, setStarted] = useState(address.autoconnect);
  // A ticket takes and releases control with its connection.
  const [take, setTake] = useState(false);
  const { session, stream } = useSession(address);
  // A socket that fails to open gives no reason; the session does.
  const over = session && isOver(session) ? `The session is over. ${endingOf(session)}` : null;
  const control = session?.control;
  const taken = control?.driver === "human" && !control.yours;
  const holder = taken ? holderOf(control) : null;
  const onTake = address.mayControl && !taken ? () => setTake(true) : null;
  // A person who lost control to another continues to watch.
  useEffect(() => {
    if (taken) setTake(false);
  }, [taken]);
  return { address, session, stream, over, started, start: () => setStarted(true), take, setTake, holder, onTake };
}

function useSession({ sessionId, ticket }: ViewerAddress): Pick<SharedLink, "session" | "stream"> {
  const [sessions, change] = useReducer(changeSessions, noSessions);
  const [last, setLast] = useState<Session | null>(null);
  const [gone, setGone] = useState<{ end: End | null } | null>(null);
  useEffect(() => {
    const query = new URLSearchParams({ session_id: sessionId, ...(ticket === null ? {} : { ticket }) });
    const stream = openEvents(api(`events?${query}`), {
      event: (event) => {
        change({ kind: "event", event });
        if (event.kind === "session_gone" && event.id === sessionId) setGone(event);
        // A new stream starts with the current session.
        if (event.kind === "reset") stream.retry();
      },
      state: (state) => change({ kind: "stream", state }),
      // Not allowed for this ticket: the picture works without it.
      refused: () => stream.close(),
    });
    return () => stream.close();
  }, [sessionId, ticket]);
  const live = sessions.list?.find(({ id }) => id === sessionId);
  if (live !== undefined && live !== last) {
    setLast(live);
    setGone(null);
  }
  return { session: live ?? (last && gone && ended(last, gone.end)), stream: sessions.stream };
}
