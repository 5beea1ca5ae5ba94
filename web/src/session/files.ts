import type { Entry } from "../api/wire";
import { api, prefix } from "../prefix";

/** Paths are relative to the session's home, which is the empty path. */
export const home = "";

export function join(folder: string, name: string): string {
  return folder === home ? name : `${folder}/${name}`;
}

/** The display name of a folder. */
export function folderName(path: string): string {
  return path === home ? "Home" : path.slice(path.lastIndexOf("/") + 1);
}

/** The folders from the home to a path, including the path. */
export function wayTo(path: string): string[] {
  const parts = path.split("/").filter(Boolean);
  return [home, ...parts.map((_, index) => parts.slice(0, index + 1).join("/"))];
}

export function isHidden({ name }: Entry): boolean {
  return name.startsWith(".");
}

/** The address to download or upload a file. */
export function fileAddress(sessionId: string, path: string, base: URL = prefix): string {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return api(`sessions/${encodeURIComponent(sessionId)}/files/${encoded}`, base);
}

/** The name of a copy: `a.txt` becomes `a (1).txt`, and `.profile` becomes `.profile (1)`. */
export function copyName(name: string, copy: number): string {
  const [, stem = name, ending = ""] = /^(.+?)((?:\.tar)?\.[^.\s]+)$/s.exec(name) ?? [];
  return `${stem} (${copy})${ending}`;
}

/** The name and those of its copies, without taken ones. */
export function* freeNames(name: string, taken: ReadonlySet<string>): Generator<string> {
  if (!taken.has(name)) yield name;
  for (let copy = 1; ; copy += 1) {
    const next = copyName(name, copy);
    if (!taken.has(next)) yield next;
  }
}
