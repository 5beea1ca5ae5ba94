import type { BrowserStatus, Tab } from "../api/wire";
import { isObject, parseObject } from "../json";
import type { CastQuality } from "../viewer/quality";

/** What the following pictures show. Sizes are CSS pixels of the page. */
export interface Frame {
  tab: string;
  /** The size that the whole picture shows. */
  width: number;
  height: number;
  /** Where the page begins in the picture. */
  offsetTop: number;
  /** The number of the next picture. */
  seq: number;
}

/** A dialog that blocks the page until it is answered. */
export interface PageDialog {
  kind: "alert" | "confirm" | "prompt" | "beforeunload";
  message: string;
  /** The default text of a prompt. */
  proposal: string;
}

/** Messages of the stream between pictures. */
export type CastMessage =
  | { kind: "frame"; frame: Frame }
  | { kind: "tabs"; tabs: Tab[] }
  | { kind: "status"; status: BrowserStatus; reason: string | null }
  | { kind: "control"; mayDrive: boolean }
  | { kind: "dialog"; dialog: PageDialog | null }
  | { kind: "error"; message: string };

const statuses: readonly string[] = [
  "unspecified",
  "starting",
  "ready",
  "streaming",
  "no_browser",
  "passthrough",
  "unavailable",
  "private",
] satisfies BrowserStatus[];

/** Parses a message; null for an unknown one, so that a newer server does not break the page. */
export function parseMessage(data: string): CastMessage | null {
  const body = parseObject(data);
  if (body === null) return null;
  if (isObject(body.frame)) return readFrame(body.frame);
  if (Array.isArray(body.tabs)) return { kind: "tabs", tabs: body.tabs.filter(isTab) };
  if (isObject(body.status)) return readStatus(body.status);
  if (isObject(body.control)) return { kind: "control", mayDrive: body.control.may_drive === true };
  if (body.dialog === null) return { kind: "dialog", dialog: null };
  if (isObject(body.dialog)) return readDialog(body.dialog);
  if (isObject(body.error) && typeof body.error.message === "string") {
    return { kind: "error", message: body.error.message };
  }
  return null;
}

function readFrame({ tab, width, height, offset_top, seq }: Record<string, unknown>): CastMessage | null {
  if (typeof tab !== "string" || typeof seq !== "number") return null;
  if (typeof width !== "number" || typeof height !== "number" || width <= 0 || height <= 0) return null;
  const offsetTop = typeof offset_top === "number" ? offset_top : 0;
  return { kind: "frame", frame: { tab, width, height, offsetTop, seq } };
}

function readStatus({ status, reason }: Record<string, unknown>): CastMessage | null {
  if (typeof status !== "string" || !statuses.includes(status)) return null;
  return { kind: "status", status: status as BrowserStatus, reason: typeof reason === "string" ? reason : null };
}

function readDialog({ kind, message, proposal }: Record<string, unknown>): CastMessage | null {
  if (kind !== "alert" && kind !== "confirm" && kind !== "prompt" && kind !== "beforeunload") return null;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { kind: "dialog", dialog: { kind, message: text(message), proposal: text(proposal) } };
}

function isTab(value: unknown): value is Tab {
  return isObject(value) && ["id", "url", "title"].every((name) => typeof value[name] === "string");
}

export interface MouseParams {
  type: "mousePressed" | "mouseReleased" | "mouseMoved" | "mouseWheel";
  x: number;
  y: number;
  modifiers: number;
  button?: MouseButton;
  /** All pressed buttons. */
  buttons?: number;
  clickCount?: number;
  deltaX?: number;
  deltaY?: number;
}

export type MouseButton = "none" | "left" | "middle" | "right" | "back" | "forward";

export interface KeyParams {
  type: "keyDown" | "rawKeyDown" | "keyUp" | "char";
  modifiers: number;
  key?: string;
  code?: string;
  windowsVirtualKeyCode?: number;
  text?: string;
  autoRepeat?: boolean;
  location?: number;
}

export interface TouchParams {
  type: "touchStart" | "touchMove" | "touchEnd" | "touchCancel";
  touchPoints: { x: number; y: number; id: number }[];
  modifiers: number;
}

/** Messages from a viewer to the stream. */
export type CastRequest =
  | { method: "Input.dispatchMouseEvent"; params: MouseParams }
  | { method: "Input.dispatchKeyEvent"; params: KeyParams }
  | { method: "Input.dispatchTouchEvent"; params: TouchParams }
  /** Without a tab, the agent's tab. */
  | { method: "view"; params: CastQuality & { tab: string | null } }
  | { method: "ack"; params: { seq: number } }
  | { method: "dialog"; params: { accept: boolean; text?: string } };
