import type { Closing } from "./closing";

/** The state of the connection to the picture. */
export type ViewerState =
  | { kind: "connecting" }
  | { kind: "connected" }
  | { kind: "reconnecting"; text: string; attempt: number }
  | { kind: "over"; text: string }
  | { kind: "refused"; text: string };

export type ViewerChange =
  | { kind: "start" }
  | { kind: "connected" }
  | { kind: "closed"; closing: Closing };

export function changeViewer(state: ViewerState, change: ViewerChange): ViewerState {
  switch (change.kind) {
    case "start":
      // While reconnecting, keep the message, so that it does not flicker between two texts.
      return state.kind === "reconnecting" ? state : { kind: "connecting" };
    case "connected":
      return { kind: "connected" };
    case "closed":
      if (change.closing.kind !== "retry") return change.closing;
      return {
        kind: "reconnecting",
        text: change.closing.text,
        attempt: state.kind === "reconnecting" ? state.attempt + 1 : 0,
      };
  }
}
