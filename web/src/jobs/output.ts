import { isObject } from "../json";

/** A text of an output that deserves a block of its own. */
export interface TextPart {
  name: string;
  text: string;
  kind: "markdown" | "text" | "picture";
}

/** Longer texts get a block. */
const short = 120;

/** The texts of an output that are worth reading as such, and everything else. */
export function partsOf(output: unknown): { texts: TextPart[]; rest: unknown } {
  if (typeof output === "string") return { texts: [partOf("output", output)], rest: undefined };
  if (!isObject(output)) return { texts: [], rest: output };
  const texts: TextPart[] = [];
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(output)) {
    const isText = typeof value === "string" && (value.includes("\n") || value.length > short);
    if (isText || isPicture(value)) texts.push(partOf(name, value as string));
    else rest[name] = value;
  }
  return { texts, rest: Object.keys(rest).length > 0 ? rest : undefined };
}

function partOf(name: string, text: string): TextPart {
  const kind = isPicture(text) ? "picture" : /markdown|readme|^md$/i.test(name) ? "markdown" : "text";
  return { name, text, kind };
}

/** Pictures that the page's content security policy lets it show. */
function isPicture(value: unknown): boolean {
  return typeof value === "string" && /^data:image\/(png|jpeg|gif|webp);base64,/.test(value);
}
