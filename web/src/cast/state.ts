import type { BrowserStatus, BrowserView, Session, Tab } from "../api/wire";
import { sentence } from "../format";
import type { CastMessage, Frame, PageDialog } from "./message";

/** What is known of the browser that is watched. */
export interface CastState {
  /** Null until the stream has told. */
  status: BrowserStatus | null;
  reason: string | null;
  /** What the picture shows; what it showed last, while there is no new one. */
  frame: Frame | null;
  tabs: Tab[];
  mayDrive: boolean;
  dialog: PageDialog | null;
  /** How many questions there were: two of the same words are two. */
  asked: number;
  /** Whether a picture of this connection is there. */
  painted: boolean;
}

export type CastChange =
  | { kind: "opened" }
  | { kind: "closed" }
  | { kind: "painted" }
  | { kind: "told"; message: CastMessage };

export const nothingCast: CastState = {
  status: null,
  reason: null,
  frame: null,
  tabs: [],
  mayDrive: false,
  dialog: null,
  asked: 0,
  painted: false,
};

export function changeCast(state: CastState, change: CastChange): CastState {
  switch (change.kind) {
    case "opened":
    case "closed":
      // Tabs and the last picture stay, so that a moment without a connection does not clear the page.
      return { ...nothingCast, frame: state.frame, tabs: state.tabs, asked: state.asked };
    case "painted":
      return state.painted ? state : { ...state, painted: true };
    case "told":
      return hear(state, change.message);
  }
}

function hear(state: CastState, message: CastMessage): CastState {
  switch (message.kind) {
    case "frame":
      return { ...state, frame: message.frame };
    case "tabs":
      return { ...state, tabs: message.tabs };
    case "status": {
      const { status, reason } = message;
      // A browser that comes back has nothing to show at first, and none of the old questions.
      const lost = status !== "streaming";
      return { ...state, status, reason, ...(lost ? { painted: false, dialog: null } : {}) };
    }
    case "control":
      return { ...state, mayDrive: message.mayDrive };
    case "dialog":
      return { ...state, dialog: message.dialog, asked: state.asked + 1 };
    case "error":
      return state;
  }
}

/** What stands over the picture while connected. */
export type Scene =
  | { kind: "picture" }
  | { kind: "wait"; text: string }
  | { kind: "notice"; title: string; text: string; reason: string | null };

/** What the server says of a session's browser, if it is somebody's own. */
export function attachedBrowser(session: Session | null): BrowserView | null {
  return (session?.attached && session.browser_view) ?? null;
}

/** While another person signs in: nobody else sees that tab. */
function privateScene(reason: string | null): Scene {
  const text = "The picture comes back when they leave. What the agent gets then is the page, not what was typed.";
  return { kind: "notice", title: "Private sign-in", text, reason };
}

export function sceneOf({ status, reason, painted, tabs }: CastState, attached: BrowserView | null = null): Scene {
  switch (status) {
    case null:
    case "unspecified":
    case "starting":
      return { kind: "wait", text: "The browser is starting…" };
    case "ready":
      if (reason !== null && tabs.length === 0) {
        return { kind: "notice", title: "The browser has no tab", text: "Open one, or wait until the agent does.", reason: null };
      }
      if (reason !== null) {
        return { kind: "notice", title: "There is no such tab", text: "Choose another tab, or follow the agent.", reason };
      }
      return { kind: "wait", text: "Waiting for the first picture…" };
    case "streaming":
    case "passthrough":
      return painted ? { kind: "picture" } : { kind: "wait", text: "Waiting for the first picture…" };
    case "no_browser":
      // Nobody starts it but who attached it, whatever the stream says.
      if (attached !== null) {
        return {
          kind: "notice",
          title: "The browser is not running",
          text: "It is an attached browser, which helmdeck does not start. Its picture comes back when it does.",
          reason: attached.reason ?? null,
        };
      }
      return {
        kind: "notice",
        title: "The browser is not running",
        text: "It is restarting. Its picture appears here in a moment.",
        reason,
      };
    case "private":
      return privateScene(reason);
    case "unavailable":
      return {
        kind: "notice",
        title: "The browser cannot be shown",
        text: "Try another tab, or reload the page if it crashed.",
        reason,
      };
  }
}

/** What stands where the picture would be, of a browser that cannot be watched at all. */
export function unwatchable(reason: string | null): Scene {
  const text = "The session goes on without its picture. What the agent does is in the panel, under Actions.";
  return { kind: "notice", title: "The browser cannot be shown", text, reason };
}

/** What stands where the picture would be, of a display that somebody attached without what sends it. */
export const withoutLiveView: Scene = {
  kind: "notice",
  title: "The display cannot be watched live",
  reason: "TigerVNC's X0tigervnc (Debian: tigervnc-scraping-server) is missing where the display is",
  text: "Screenshots and actions work. What the agent does is in the panel, under Actions.",
};

/** Why there is no use in looking at a session's browser now; undefined if there is. */
export function blockedBecause(status: BrowserStatus | undefined, reason: string | null | undefined): string | undefined {
  switch (status) {
    case undefined:
    case "unspecified":
      return "It is not known yet whether the browser can be watched.";
    case "unavailable":
      return reason ? sentence(reason) : "The browser cannot be watched here.";
    case "starting":
    case "ready":
    case "streaming":
    case "no_browser":
    case "passthrough":
    case "private":
      return undefined;
  }
}
