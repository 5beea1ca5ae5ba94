import type { Edit } from "./typed";

/** X11 keysyms of keys that a browser intercepts or a phone does not have. */
export const keysym = {
  BackSpace: 0xff08,
  Tab: 0xff09,
  Return: 0xff0d,
  Escape: 0xff1b,
  Delete: 0xffff,
  Control: 0xffe3,
  Shift: 0xffe1,
  Alt: 0xffe9,
  Super: 0xffeb,
  F1: 0xffbe,
} as const;

/** F1 … F12. */
export function functionKey(number: number): number {
  return keysym.F1 + number - 1;
}

/** The keysym of a character: Latin-1 directly, others by code point. */
export function keysymOf(character: string): number {
  if (character === "\n" || character === "\r") return keysym.Return;
  if (character === "\t") return keysym.Tab;
  const code = character.codePointAt(0) ?? 0;
  return (code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xff) ? code : 0x01000000 | code;
}

/** The keys that perform an edit. */
export function keysOf({ erase, text }: Edit): number[] {
  return [...new Array<number>(erase).fill(keysym.BackSpace), ...[...text].map(keysymOf)];
}
