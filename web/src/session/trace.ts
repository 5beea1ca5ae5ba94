import type { ActionDetail, Point } from "../api/wire";

export interface Rect extends Point {
  width: number;
  height: number;
}

export type TraceKind =
  | "action"
  | "window_opened"
  | "window_closed"
  | "title_changed"
  | "focus_moved"
  | "navigated"
  | "tab_opened"
  | "tab_closed"
  | "dialog"
  | "download";

export type Effect =
  | "confirmed"
  | "no_visible_change"
  | "navigated"
  | "window_opened"
  | "window_closed"
  | "focus_moved"
  | "dialog"
  | "download"
  | "scrolled"
  | "value_changed"
  | "tab_opened"
  | "tab_closed"
  | "title_changed";

/** What was under the point of an action. */
export interface Hit {
  window?: string;
  role?: string;
  name?: string;
  value?: string;
  states?: string[];
  rect?: Rect;
  element?: string;
  selector?: string;
  url?: string;
  source: "window" | "accessibility" | "dom" | "ocr";
}

/** Something that happened in a session. */
export interface TraceEntry {
  id: number;
  /** In milliseconds since the session started. */
  at_ms: number;
  kind: TraceKind;
  action?: string;
  detail?: ActionDetail;
  duration_ms?: number;
  /** `ok`, or the code of an error; missing while the action is under way. */
  outcome?: string;
  acted_at?: Point;
  hit?: Hit;
  effect?: Effect;
  regions?: Rect[];
  settle_ms?: number;
  /** Ids of small pictures. */
  before?: string;
  after?: string;
  window?: string;
  title?: string;
  tab?: string;
  url?: string;
}

export interface TraceLog {
  /** Oldest first. */
  entries: TraceEntry[];
  next: number;
  now_ms: number;
}

/** What was read of a trace. */
export interface Trace {
  /** Oldest first. */
  entries: TraceEntry[];
  next: number;
  /** The session's time of the last reply, in milliseconds since it started. */
  at: number;
  /** When the session started, on our clock. */
  began: number;
}

/** More would make the page slow. */
export const most = 500;

/** Adds a reply to what was read before. Null if the session has begun another trace: read it from the start. */
export function merge(old: Trace | null, log: TraceLog, now: number): Trace | null {
  if (old === null) {
    return { entries: log.entries.slice(-most), next: log.next, at: log.now_ms, began: now - log.now_ms };
  }
  if (log.next < old.next) return null;
  return { ...old, entries: mergeEntries(old.entries, log.entries), next: log.next, at: log.now_ms };
}

/** Returns the same list if nothing is new. */
function mergeEntries(old: TraceEntry[], read: TraceEntry[]): TraceEntry[] {
  const byId = new Map(old.map((entry) => [entry.id, entry]));
  let changed = false;
  for (const entry of read) {
    const known = byId.get(entry.id);
    // An unchanged entry stays the same object, so that its row is not rendered again.
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(entry)) continue;
    byId.set(entry.id, entry);
    changed = true;
  }
  if (!changed) return old;
  return [...byId.values()].sort((a, b) => a.id - b.id).slice(-most);
}

/** Titles that count or tick would fill the list: of several in a row, only the last is shown. */
export function linesOf(entries: TraceEntry[]): TraceEntry[] {
  return entries.filter((entry, index) => {
    const next = entries[index + 1];
    return entry.kind !== "title_changed" || next?.kind !== "title_changed" || next.window !== entry.window;
  });
}

/** The place of an action, in pixels of the session's picture. */
export interface Spot {
  at: Point | null;
  hit: Rect | null;
  regions: Rect[];
}

/** Null for entries without a place. */
export function spotOf({ acted_at, hit, regions }: TraceEntry): Spot | null {
  const spot = { at: acted_at ?? null, hit: hit?.rect ?? null, regions: regions ?? [] };
  return spot.at === null && spot.hit === null && spot.regions.length === 0 ? null : spot;
}
