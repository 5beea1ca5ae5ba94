import type { Session } from "../api/wire";
import type { StreamState } from "../events/source";
import type { ViewerState } from "../viewer/state";
import { sentence } from "../format";

/** The connection state, with the most likely reason for a loss. */
export function lossOf(state: ViewerState, session: Session | null, stream: StreamState): ViewerState {
  if (state.kind !== "reconnecting") return state;
  if (stream === "lost") {
    return { ...state, text: "The connection to the server is lost; what you see may be old." };
  }
  // The server's explanation: a picture may be lost or refused for other reasons.
  const gone = session?.attached && session.notes?.find((note) => note.startsWith("the program that attached it"));
  return gone ? { ...state, text: sentence(gone) } : state;
}
