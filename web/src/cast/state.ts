import type { BrowserStatus, BrowserView, Session, Tab } from "../api/wire";
import { sentence } from "../format";
import type { CastMessage, Frame, PageDialog } from "./message";

/** The state of a watched browser. */
export interface CastState {
  /** Null until the stream has reported it. */
  status: BrowserStatus | null;
  reason: string | null;
  /** What the picture shows, or last showed. */
  frame: Frame | null;
  tabs: Tab[];
  mayDrive: boolean;
  dialog: PageDialog | null;
  /** The number of dialogs so far, to distinguish two with the same text. */
  asked: number;
  /** Whether this connection has painted a picture. */
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
      // Tabs and the last picture stay, so that a short disconnect does not clear the page.
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
      // A restarted browser has no picture at first, and none of the old dialogs.
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

/** What is shown over the picture while connected. */
export type Scene =
  | { kind: "picture" }
  | { kind: "wait"; text: string }
  | { kind: "notice"; title: string; text: string; reason: string | null };

/** The server's view of an attached session's browser. */
export function attachedBrowser(session: Session | null): BrowserView | null {
  return (session?.attached && session.browser_view) ?? null;
}

/** During a private sign-in, other viewers do not see the tab. */
function privateScene(reason: string | null): Scene {
  const text = "The picture returns when they finish. The agent then gets the page, but not what was typed.";
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
      // Only the person who attached the browser can start it, whatever the stream reports.
      if (attached !== null) {
        return {
          kind: "notice",
          title: "The browser is not running",
          text: "It is an attached browser, which helmdeck does not start. The picture returns when it runs again.",
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

/** The message for a browser that cannot be watched at all. */
export function unwatchable(reason: string | null): Scene {
  const text = "The session continues without a picture. The panel lists the agent's actions.";
  return { kind: "notice", title: "The browser cannot be shown", text, reason };
}

/** The message for an attached display without the program for the live view. */
export const withoutLiveView: Scene = {
  kind: "notice",
  title: "The display cannot be watched live",
  reason: "TigerVNC's X0tigervnc (Debian: tigervnc-scraping-server) is missing where the display is",
  text: "Screenshots and actions work. The panel lists the agent's actions.",
};

/** Why a session's browser cannot be watched now; undefined if it can. */
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
