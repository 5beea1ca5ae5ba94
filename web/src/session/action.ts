import type { ActionDetail, ActionRecord } from "../api/wire";
import { bytes, capital, count } from "../format";
import type { IconName } from "../ui/Icon";

/** An action and its details, wherever they come from. */
type Described = Pick<ActionRecord, "action" | "detail">;

const icons: Record<string, IconName> = {
  click: "pointer",
  double_click: "pointer",
  triple_click: "pointer",
  modifier_click: "pointer",
  mouse_move: "pointer",
  mouse_down: "pointer",
  mouse_up: "pointer",
  drag: "drag",
  scroll: "scroll",
  type: "type",
  key: "key",
  hold_key: "key",
  screenshot: "camera",
  zoom: "camera",
  launch: "terminal",
  clipboard: "clipboard",
  resize: "fit",
  wait: "clock",
  focus: "window",
  windows: "window",
  file_upload: "upload",
  file_download: "download",
  agent_status: "say",
  keep_alive: "clock",
  cdp_connect: "link",
  cdp_disconnect: "link",
  start_private_sign_in: "lock",
  end_private_sign_in: "lock",
  forward_open: "link",
  forward_close: "link",
  take_control: "hand",
  release_control: "hand",
  browser_navigate: "web",
  browser_tabs: "web",
  browser_click: "pointer",
  browser_hover: "pointer",
  browser_type: "type",
  browser_press: "key",
  browser_screenshot: "camera",
  browser_wait_for: "clock",
  browser_upload: "upload",
};

export function iconOf({ action }: Pick<ActionRecord, "action">): IconName {
  return icons[action] ?? "terminal";
}

/** A short description: `Click`, `Right click`, `Scroll down 3`, `Press ctrl+l`. */
export function whatOf({ action, detail }: Described): string {
  switch (action) {
    case "click":
      return !detail.button || detail.button === "left" ? "Click" : `${capital(detail.button)} click`;
    case "scroll":
      return ["Scroll", detail.direction, detail.amount].filter((part) => part !== undefined).join(" ");
    case "type":
      return detail.characters === undefined ? "Type" : `Type ${count(detail.characters, "character")}`;
    case "key":
      return detail.keys ? `Press ${detail.keys}` : "Press a key";
    case "launch":
      return detail.command ? `Launch ${detail.command}` : "Launch";
    case "resize":
      return detail.geometry ? `Resize to ${detail.geometry}` : "Resize";
    case "windows":
      return "List windows";
    case "start_private_sign_in":
      return "Start private sign-in";
    case "end_private_sign_in":
      return "End private sign-in";
    case "agent_status":
      return detail.status ? `“${detail.status}”` : "Clear the status";
    case "release_control":
      return detail.message ? `Hand back: “${detail.message}”` : "Hand back";
    case "file_upload":
      return typeof detail.path === "string" ? `Upload ${detail.path}` : "Upload a file";
    case "file_download":
      return typeof detail.path === "string" ? `Download ${detail.path}` : "Download a file";
    case "wait":
      return detail.seconds === undefined ? "Wait" : `Wait ${detail.seconds} s`;
    default:
      return inBrowser(action, detail) ?? capital(action.replaceAll("_", " "));
  }
}

/** Describes a browser action by its address or element. Null for actions with neither. */
function inBrowser(action: string, detail: ActionDetail): string | null {
  const { selector, url } = detail;
  switch (action) {
    case "browser_navigate":
      return detail.history ? capital(detail.history) : url ? `Go to ${url}` : null;
    case "browser_tabs":
      return ofTabs(detail);
    case "browser_type": {
      const typed = detail.characters === undefined ? "Type" : `Type ${count(detail.characters, "character")}`;
      return selector ? `${typed} into ${selector}` : typed;
    }
    case "browser_press":
      return ["Press", detail.keys || "a key", selector && `in ${selector}`].filter(Boolean).join(" ");
    case "browser_interact":
      return selector ? `${capital(detail.action ?? "use")} ${selector}` : null;
    case "browser_click":
    case "browser_hover":
    case "browser_select":
    case "browser_extract":
    case "browser_wait_for":
      return selector ? `${capital(action.slice("browser_".length).replaceAll("_", " "))} ${selector}` : null;
    case "browser_upload":
      return selector ? `Upload into ${selector}` : null;
    default:
      return null;
  }
}

function ofTabs({ action, url }: ActionDetail): string {
  switch (action) {
    case "open":
      return url ? `Open a tab with ${url}` : "Open a tab";
    case "close":
      return "Close a tab";
    case "activate":
      return "Switch to another tab";
    default:
      return "List tabs";
  }
}

/** The position or amount of an action; empty if it has neither. */
export function whereOf({ detail }: Described): string {
  if (typeof detail.path === "string") return detail.size === undefined ? "" : bytes(detail.size);
  const path = detail.path ?? [];
  const [first, last] = [path[0], path.at(-1)];
  if (first && last) return `${first.x}, ${first.y} → ${last.x}, ${last.y}`;
  return typeof detail.x === "number" && typeof detail.y === "number" ? `${detail.x}, ${detail.y}` : "";
}

/** Why an action did not succeed: an error code in words. */
export function outcomeOf({ outcome }: Pick<ActionRecord, "outcome">): string {
  return outcome === "control_held" ? "Refused: a person had control" : capital(outcome.replaceAll("_", " "));
}

/** One line of the log: an action, and how often it was repeated in a row. */
export interface Line {
  action: ActionRecord;
  times: number;
}

/**
 * The log's lines. An agent that waits often repeats a call: identical actions in a row without a position become one
 * line, with the last of them.
 */
export function linesOf(actions: ActionRecord[]): Line[] {
  const lines: Line[] = [];
  for (const action of actions) {
    const line = lines.at(-1);
    if (line && repeats(line.action, action)) lines[lines.length - 1] = { action, times: line.times + 1 };
    else lines.push({ action, times: 1 });
  }
  return lines;
}

/** Whether a line is a message, which is shown in full. */
export function isSaid({ action, detail }: ActionRecord): boolean {
  return (action === "agent_status" && Boolean(detail.status)) || (action === "release_control" && Boolean(detail.message));
}

/** The kind and name of who did something. */
export function actorOf({ by }: ActionRecord): { kind: "Agent" | "Person" | "Link"; name: string } {
  const { kind, subject, label } = by;
  const word = kind === "agent" ? "Agent" : kind === "link" ? "Link" : "Person";
  // The label of a login does not identify the person.
  const labelled = kind !== "human" && label && label !== subject;
  return { kind: word, name: labelled ? `${label} (${subject})` : subject };
}

function repeats(before: ActionRecord, now: ActionRecord): boolean {
  return (
    now.action === before.action &&
    now.outcome === before.outcome &&
    now.by.kind === before.by.kind &&
    now.by.subject === before.by.subject &&
    now.by.label === before.by.label &&
    whereOf(now) === "" &&
    whatOf(now) === whatOf(before)
  );
}
