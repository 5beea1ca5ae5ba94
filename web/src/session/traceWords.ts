import { capital } from "../format";
import type { IconName } from "../ui/Icon";
import { whereOf } from "./action";
import type { Effect, Hit, TraceEntry, TraceKind } from "./trace";

const effects: Record<Effect, string> = {
  confirmed: "Changed",
  no_visible_change: "No visible change",
  navigated: "Navigated",
  window_opened: "Opened a window",
  window_closed: "Closed a window",
  focus_moved: "Moved the focus",
  dialog: "Opened a dialog",
  download: "Started a download",
  scrolled: "Scrolled",
  value_changed: "Changed a value",
  tab_opened: "Opened a tab",
  tab_closed: "Closed a tab",
  title_changed: "Changed a title",
};

/** An effect in words, also one of a newer server. */
export function effectOf(effect: Effect): string {
  return effects[effect] ?? plain(effect);
}

/** What was hit: `Button “Save”, disabled`. Empty if nothing is known about it. */
export function hitOf({ role, name, element, window, states }: Hit): string {
  const thing = [role || element, name && `“${name}”`].filter(Boolean).join(" ");
  if (thing === "") return window ? `Window “${window}”` : "";
  return [plain(thing), states?.includes("disabled") && "disabled"].filter(Boolean).join(", ");
}

/** Everything else that is known about what was hit, for a tooltip. */
export function aboutHit(hit: Hit): string {
  const { window, value, states, selector, url } = hit;
  return [hitOf(hit), value && `Value: ${value}`, states?.join(", "), selector, window && `In “${window}”`, url]
    .filter(Boolean)
    .join("\n");
}

/** Where an action happened: the real place if it is known, otherwise the requested one. */
export function placeOf({ acted_at, action = "", detail = {} }: TraceEntry): string {
  const place = whereOf({ action, detail });
  return acted_at === undefined || place.includes("→") ? place : `${acted_at.x}, ${acted_at.y}`;
}

const icons: Record<Exclude<TraceKind, "action">, IconName> = {
  window_opened: "window",
  window_closed: "window",
  title_changed: "window",
  focus_moved: "window",
  navigated: "web",
  tab_opened: "web",
  tab_closed: "web",
  dialog: "say",
  download: "download",
};

export function eventIcon({ kind }: TraceEntry): IconName {
  return kind === "action" ? "pointer" : (icons[kind] ?? "window");
}

/** What happened by itself or because of an action. */
export function eventOf({ kind, title, url }: TraceEntry): string {
  const window = title ? `“${title}”` : "a window";
  switch (kind) {
    case "window_opened":
      return `Opened ${window}`;
    case "window_closed":
      return `Closed ${window}`;
    case "title_changed":
      return title ? `Title is now ${window}` : "A title changed";
    case "focus_moved":
      return `Focus on ${window}`;
    case "navigated":
      return url ? `Now at ${url}` : "Now at another page";
    case "tab_opened":
      return url ? `Opened a tab with ${url}` : "Opened a tab";
    case "tab_closed":
      return "Closed a tab";
    case "dialog":
      return "The page opened a dialog";
    case "download":
      return "A download began";
    default:
      return plain(kind);
  }
}

/** A name of the API as words. */
function plain(name: string): string {
  const [first = "", ...quoted] = name.split("“");
  return capital([first.replaceAll("_", " "), ...quoted].join("“"));
}
