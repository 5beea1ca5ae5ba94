import type { Closing } from "./closing";

/** Where the connection to the picture is. */
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
      // While coming back the page goes on saying so, instead of blinking between two texts.
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
