import type { StepFile } from "../api/wire";

/** The systems on which an agent's settings may be. */
export const systems = [
  { system: "linux", text: "Linux" },
  { system: "macos", text: "macOS" },
  { system: "windows", text: "Windows" },
] as const;

export type System = (typeof systems)[number]["system"];

/** The system that a browser reports. */
export function systemOf(userAgent: string): System {
  if (/Windows/.test(userAgent)) return "windows";
  return /Mac OS X|Macintosh/.test(userAgent) ? "macos" : "linux";
}

export function pathOn(file: StepFile, system: System): string {
  return { linux: file.path, macos: file.macos, windows: file.windows }[system];
}

/** Whether the file has the same path on every system. */
export function sameEverywhere(file: StepFile): boolean {
  return file.path === file.macos && file.path === file.windows;
}
