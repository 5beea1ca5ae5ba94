import { isObject } from "../json";

/** A text of an output that is shown as a separate block. */
export interface TextPart {
  name: string;
  text: string;
  kind: "markdown" | "text" | "picture";
}

/** Longer texts get a block. */
const short = 120;

/** Texts of deeper objects stay in the tree. */
const deepest = 2;

/** The texts of an output that are worth reading as such, and everything else. */
export function partsOf(output: unknown): { texts: TextPart[]; rest: unknown } {
  if (typeof output === "string") return { texts: [partOf("output", output)], rest: undefined };
  const texts: TextPart[] = [];
  return { texts, rest: withoutTexts(output, "", texts) };
}

/** Moves the long texts of an object to `texts`; undefined if nothing is left of it. */
function withoutTexts(value: unknown, path: string, texts: TextPart[], depth = 1): unknown {
  if (!isObject(value)) return value;
  const rest: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const isText = typeof item === "string" && (item.includes("\n") || item.length > short);
    if (isText || isPicture(item)) {
      texts.push(partOf(path + name, item as string));
      continue;
    }
    const left = depth < deepest ? withoutTexts(item, `${path}${name}.`, texts, depth + 1) : item;
    if (left !== undefined) rest[name] = left;
  }
  const empty = Object.keys(rest).length === 0 && Object.keys(value).length > 0;
  return empty ? undefined : rest;
}

function partOf(name: string, text: string): TextPart {
  const kind = isPicture(text) ? "picture" : /markdown|readme|^md$/i.test(name) ? "markdown" : "text";
  return { name, text, kind };
}

/** Pictures that the page's content security policy lets it show. */
function isPicture(value: unknown): boolean {
  return typeof value === "string" && /^data:image\/(png|jpeg|gif|webp);base64,/.test(value);
}
