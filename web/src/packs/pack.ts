import type { Pack } from "../api/wire";
import type { IconName } from "../ui/Icon";

/** Groups of packs: what their names begin with, and what the page calls them. */
const groups: { title: string; icon: IconName; families: string[] }[] = [
  { title: "Repositories", icon: "code", families: ["repo", "git"] },
  { title: "Files", icon: "folder", families: ["fs"] },
  { title: "Commands and code", icon: "terminal", families: ["cmd", "python", "node"] },
  { title: "Browser and web", icon: "web", families: ["browser", "web", "http"] },
  { title: "Desktop", icon: "window", families: ["desktop"] },
  { title: "Documents", icon: "file", families: ["doc"] },
  { title: "Media", icon: "film", families: ["av", "image", "video", "audio", "podcast", "slides"] },
  { title: "GitHub", icon: "link", families: ["github"] },
  { title: "Email", icon: "say", families: ["email"] },
  { title: "Artifacts", icon: "picture", families: ["artifact", "artifacts"] },
];

export interface Group {
  title: string;
  icon: IconName;
  packs: Pack[];
}

/** Packs by group; those of an unknown family are in a group with its name. */
export function groupsOf(packs: Pack[]): Group[] {
  const found = new Map<string, Group>();
  for (const { title, icon } of groups) found.set(title, { title, icon, packs: [] });
  for (const pack of packs.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const family = pack.name.split(".")[0] ?? pack.name;
    const title = groups.find(({ families }) => families.includes(family))?.title ?? capitalized(family);
    const group = found.get(title) ?? { title, icon: "settings" as const, packs: [] };
    group.packs.push(pack);
    found.set(title, group);
  }
  return [...found.values()].filter(({ packs }) => packs.length > 0);
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The packs with all of these words in their name, description or keywords. */
export function search(packs: Pack[], wanted: string): Pack[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  return packs.filter(({ name, description, routing }) => {
    const facts = [name, description, routing.typical_use, routing.intent_keywords, routing.accepts, routing.produces];
    const text = facts.flat().filter(Boolean).join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** What a call does to the world, in a word or two. */
export function effectOf({ nature }: Pack): { text: string; tone: "calm" | "plain" | "danger" } {
  if (nature.destructive) return { text: "Deletes", tone: "danger" };
  if (nature.effect === "read_only") return { text: "Only reads", tone: "calm" };
  if (nature.effect === "spends_money") return { text: "Spends money", tone: "plain" };
  return { text: nature.effect === "changes_session" ? "Changes the session" : "Makes changes", tone: "plain" };
}

/** Which session a pack works in. */
export function sessionOf({ session, mode }: Pack): string {
  const fresh = mode === "headless" ? "a new browser session" : mode === "desktop" ? "a new desktop" : "a new session";
  switch (session) {
    case "none":
      return "Needs no session.";
    case "one_shot":
      return `Works in the session that you choose, or in ${fresh} that ends with the job.`;
    case "keeps":
      return `Works in the session that you choose, or in ${fresh} that stays for the next call.`;
    default:
      return "Works on what an earlier call left in a session: choose that session.";
  }
}

/** The first sentence, for the list. */
export function summaryOf({ description }: Pack): string {
  return /^.*?\.(?=\s|$)/s.exec(description)?.[0] ?? description;
}

/** The page of a pack; with a job, filled in with its input. */
export function packPage(name: string, job?: string): string {
  const query = job === undefined ? "" : `?${new URLSearchParams({ job }).toString()}`;
  return `packs/${encodeURIComponent(name)}${query}`;
}
