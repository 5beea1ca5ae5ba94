import type { CreateSession } from "../api/wire";

/** How long a session made here may last. There is always a limit, so that none is forgotten. */
export const timeLimits = [
  { seconds: 900, text: "15 minutes" },
  { seconds: 3600, text: "1 hour" },
  { seconds: 14_400, text: "4 hours" },
  { seconds: 86_400, text: "1 day" },
] as const;

/** The form's fields as the API wants them; what was left open is left out. */
export function readSpec(form: FormData): CreateSession {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  return {
    mode: text("mode") === "headless" ? "headless" : "desktop",
    ...(text("label") ? { label: text("label") } : {}),
    ...(text("geometry") ? { geometry: text("geometry") } : {}),
    timeout_seconds: Number(text("timeout_seconds")),
    // Whoever made a session by hand may look away for longer than an agent's five minutes.
    idle_timeout_s: 0,
  };
}
