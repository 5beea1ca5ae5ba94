import type { Session } from "../api/wire";
import type { StreamState } from "../events/stream";
import type { ViewerState } from "../viewer/state";
import { programGone } from "../sessions/name";

/** Where the connection to the picture is, and why it is lost by all that is known beside it. */
export function lossOf(state: ViewerState, session: Session | null, stream: StreamState): ViewerState {
  if (state.kind !== "reconnecting") return state;
  if (stream === "lost") {
    return { ...state, text: "The connection to the server is lost; what you see may be old." };
  }
  return session?.attached ? { ...state, text: `${programGone} Unless it is back within half a minute, the session ends.` } : state;
}
