import type { VisionOutcome, VisionStatus, VisionStep } from "../api/wire";
import { capital, count } from "../format";
import { dollars, tokens } from "../models/metrics";
import type { IconName } from "../ui/Icon";
import { pointOf, type Mode } from "./run";

type Action = NonNullable<VisionStep["action"]>;

const clicks = ["Click", "Double click", "Triple click"];

/** An action in words: `Click`, `Right click`, `Press ctrl+l`. Also one of a newer server. */
export function actionOf(action: Action): string {
  switch (action.action) {
    case "click": {
      const word = clicks[(action.count ?? 1) - 1] ?? "Click";
      const button = action.button ?? "left";
      const named = button === "left" ? word : `${capital(button)} ${word.toLowerCase()}`;
      return action.modifiers?.length ? `${named} with ${action.modifiers.join("+")}` : named;
    }
    case "move":
      return "Move the pointer";
    case "press":
      return "Hold the mouse button";
    case "release":
      return "Release the mouse button";
    case "drag":
      return "Drag";
    case "scroll": {
      const { dx = 0, dy = 0 } = action;
      return `Scroll ${dy > 0 ? "down" : dy < 0 ? "up" : dx > 0 ? "right" : "left"}`;
    }
    case "type":
      return `Type ${typed(action.text)}`;
    case "fill":
      return `Fill in ${typed(action.text)}`;
    case "key":
      return `Press ${action.keys}`;
    case "key_down":
      return `Hold ${action.key}`;
    case "key_up":
      return `Release ${action.key}`;
    case "hold":
      return `Hold ${action.keys} for ${action.seconds} s`;
    case "wait":
      return `Wait ${action.seconds} s`;
    case "screenshot":
      return "Look at the screen";
    case "zoom":
      return "Look closer";
    case "cursor_position":
      return "Ask where the pointer is";
    case "navigate":
      return `Go to ${action.url}`;
    case "read":
      return "Read the screen";
    case "find":
      return `Search for “${action.text}”`;
    case "done":
      return "Say that it is done";
    case "ask_user":
      return "Ask a person";
    default:
      return capital((action as { action: string }).action.replaceAll("_", " "));
  }
}

/** The server replaces text that the instruction does not have. */
function typed(text: string): string {
  return text === "" || /^[•*]+$/.test(text) ? `${count(text.length, "character")}` : `“${text}”`;
}

const icons: Partial<Record<Action["action"], IconName>> = {
  drag: "drag",
  scroll: "scroll",
  type: "type",
  fill: "type",
  key: "key",
  key_down: "key",
  key_up: "key",
  hold: "key",
  wait: "clock",
  screenshot: "camera",
  zoom: "camera",
  read: "eye",
  find: "search",
  navigate: "web",
  back: "web",
  forward: "web",
  done: "check",
  ask_user: "say",
};

export function iconOf(action: VisionStep["action"]): IconName {
  return action ? (icons[action.action] ?? "pointer") : "say";
}

/** What a step did; a reply without an action only said something. */
export function stepOf({ action }: VisionStep): string {
  return action ? actionOf(action) : "No action";
}

export function placeOf({ action, moved_to }: VisionStep): string {
  const at = moved_to ?? pointOf(action);
  return at ? `${at.x}, ${at.y}` : "";
}

/** What a step cost: `1.2k tokens · $0.0021`. Empty if no model was asked. */
export function costOf({ spent, without_model }: VisionStep): string {
  if (without_model) return "Without a model";
  if (!spent) return "";
  const used = `${tokens(spent.input_tokens + spent.output_tokens)} tokens`;
  return spent.cost_usd == null ? used : `${used} · ${dollars(spent.cost_usd)}`;
}

const states: Record<VisionStatus["state"], string> = {
  running: "Running",
  paused: "Paused",
  waiting: "Waiting for you",
  ended: "Ended",
};

export function stateOf(state: VisionStatus["state"]): string {
  return states[state] ?? capital(state);
}

export type Tone = "good" | "warn" | "bad";

interface End {
  title: string;
  /** What the outcome means, if the reason does not say it. */
  text: string;
  tone: Tone;
}

const ends: Record<VisionOutcome, End> = {
  completed: { title: "Completed: verified", text: "", tone: "good" },
  unverified: {
    title: "Unverified",
    text: "The model says that it is done, but nothing shows it.",
    tone: "warn",
  },
  stuck: { title: "Stuck", text: "", tone: "warn" },
  needs_confirmation: { title: "Needs confirmation", text: "A person has to agree first.", tone: "warn" },
  budget: { title: "Budget used up", text: "", tone: "warn" },
  max_steps: { title: "Steps used up", text: "", tone: "warn" },
  provider_error: { title: "The model could not be asked", text: "", tone: "bad" },
  cancelled: { title: "Stopped", text: "", tone: "warn" },
  control_taken: { title: "A person took control", text: "", tone: "warn" },
  denied: { title: "Denied", text: "", tone: "bad" },
};

/** How a run ended, in plain words. */
export function endOf(outcome: VisionOutcome, mode: Mode): End {
  if (outcome === "stuck" && mode === "structured") {
    const text = "Not exactly one element has this name, or using it changed nothing. Vision shows the screen to a model.";
    return { ...ends.stuck, title: "Not reached", text };
  }
  return ends[outcome] ?? { title: capital(outcome.replaceAll("_", " ")), text: "", tone: "warn" };
}

/** A reason as a separate sentence; empty if the outcome has said it. */
export function reasonOf(outcome: VisionOutcome, mode: Mode, reason: string): string {
  if (outcome === "stuck" && mode === "structured" && reason.includes("_mode")) return "";
  // The server says the same in its words.
  if (outcome === "unverified" && /^the model says/i.test(reason)) return "";
  return reason;
}

/** The field of a number: nothing if it is empty. */
export function numberOf(text: string): number | undefined {
  const value = Number(text.trim());
  return text.trim() === "" || !Number.isFinite(value) ? undefined : value;
}
