import type { ToolProfile } from "../api/wire";

/** Which tools an agent is shown, in a few words each. */
export const profiles: { profile: ToolProfile; text: string; hint: string }[] = [
  { profile: "core", text: "Core", hint: "About a dozen for everyday work, and a search for the rest" },
  { profile: "browser", text: "Browser", hint: "Pages, elements and tabs" },
  { profile: "desktop", text: "Desktop", hint: "Screen, mouse, keyboard and windows" },
  { profile: "code", text: "Code", hint: "Programs and files" },
  { profile: "all", text: "All", hint: "The whole catalogue, for agents that search tools themselves" },
];
