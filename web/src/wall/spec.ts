import type { CreateSession } from "../api/wire";

/** Time limits for sessions created here. There is always one, so that none is forgotten. */
export const timeLimits = [
  { seconds: 900, text: "15 minutes" },
  { seconds: 3600, text: "1 hour" },
  { seconds: 14_400, text: "4 hours" },
  { seconds: 86_400, text: "1 day" },
] as const;

/** People may look away for longer than an agent's five minutes, so the default is never. */
export const idleLimits = [
  { seconds: 0, text: "Never" },
  { seconds: 300, text: "After 5 minutes" },
  { seconds: 1800, text: "After 30 minutes" },
] as const;

/** Sizes of a desktop's screen and of a headless browser's page. */
export const sizes = {
  desktop: { usual: "1920x1080", choices: ["1024x768", "1280x800", "1440x900", "1920x1080", "2560x1440"] },
  headless: { usual: "1280x800", choices: ["390x844", "1024x768", "1280x800", "1440x900", "1920x1080"] },
} as const;

/** Converts the form for the API; empty fields are omitted. */
export function readSpec(form: FormData): CreateSession {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const given = Object.fromEntries(
    ["label", "geometry", "start_url", "profile"].map((name) => [name, text(name)]).filter(([, value]) => value),
  );
  return {
    mode: text("mode") === "headless" ? "headless" : "desktop",
    ...given,
    timeout_seconds: Number(text("timeout_seconds")),
    idle_timeout_s: Number(text("idle_timeout_s")),
  };
}
