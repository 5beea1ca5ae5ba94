import type { KeyParams } from "./message";

export type Modifiers = Pick<KeyboardEvent, "altKey" | "ctrlKey" | "metaKey" | "shiftKey">;

type Key = Modifiers & Pick<KeyboardEvent, "key" | "code" | "keyCode" | "location" | "repeat"> & { altGraph: boolean };

/** Modifiers as the browser counts them. Command on a Mac becomes Ctrl in the session. */
export function modifiersOf({ altKey, ctrlKey, metaKey, shiftKey }: Modifiers, apple: boolean): number {
  const ctrl = ctrlKey || (apple && metaKey);
  return (altKey ? 1 : 0) | (ctrl ? 2 : 0) | (metaKey && !apple ? 4 : 0) | (shiftKey ? 8 : 0);
}

/** Whether a key is part of a composition, so its result is not known yet. */
export function composes({ key, keyCode, isComposing }: Pick<KeyboardEvent, "key" | "keyCode" | "isComposing">): boolean {
  return isComposing || keyCode === 229 || key === "Dead" || key === "Process" || key === "Unidentified";
}

/** The event of a pressed key. */
export function keyDown(event: Key, apple: boolean): KeyParams {
  const text = textOf(event, apple);
  // A character produced with Alt or AltGr is not a shortcut with Alt or Ctrl.
  const made = text !== null && text !== "\r" && (event.altGraph || event.altKey);
  return {
    type: text === null ? "rawKeyDown" : "keyDown",
    modifiers: made ? modifiersOf(event, apple) & 8 : modifiersOf(event, apple),
    ...named(event, apple),
    ...(text === null ? {} : { text }),
    ...(event.repeat ? { autoRepeat: true } : {}),
  };
}

/** The event of the released key. */
export function keyUp(down: KeyParams): KeyParams {
  const { key, code, windowsVirtualKeyCode, location } = down;
  return {
    type: "keyUp",
    modifiers: 0,
    ...(key === undefined ? {} : { key }),
    ...(code === undefined ? {} : { code }),
    ...(windowsVirtualKeyCode === undefined ? {} : { windowsVirtualKeyCode }),
    ...(location === undefined ? {} : { location }),
  };
}

function named({ key, code, keyCode, location }: Key, apple: boolean): Partial<KeyParams> {
  const command = apple && key === "Meta";
  return {
    key: command ? "Control" : key,
    code: command ? code.replace("Meta", "Control") : code,
    windowsVirtualKeyCode: command ? 17 : keyCode,
    ...(location === 0 ? {} : { location }),
  };
}

/** The text that a key types, if any. */
function textOf({ key, altGraph, altKey, ctrlKey, metaKey }: Key, apple: boolean): string | null {
  if (key === "Enter") return "\r";
  if ([...key].length !== 1) return null;
  if (altGraph) return key;
  if (ctrlKey || metaKey) return null;
  // Option produces characters on a Mac; elsewhere Alt and a letter is a shortcut.
  return altKey && !(apple || key > "~") ? null : key;
}

const pressed = {
  Backspace: { key: "Backspace", code: "Backspace", windowsVirtualKeyCode: 8 },
  Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
} as const;

/** Press and release of a key that is not physically pressed. */
export function press(name: keyof typeof pressed): KeyParams[] {
  const down: KeyParams = { type: name === "Enter" ? "keyDown" : "rawKeyDown", modifiers: 0, ...pressed[name] };
  return [down, keyUp(down)];
}

/** Types text without regard to the keyboard layout: composed characters, emoji, pasted text. */
export function typeText(text: string): KeyParams[] {
  return charactersOf(text.replace(/\r\n?/g, "\n")).flatMap((character): KeyParams[] =>
    character === "\n" ? press("Enter") : [{ type: "char", modifiers: 0, text: character }],
  );
}

/** The longest text that the stream accepts at once. */
const longestText = 64;

/** Inserts text unchanged, in a few pieces; line breaks do not press Enter. */
export function pasteText(text: string): KeyParams[] {
  const characters = [...text.replace(/\r\n?/g, "\n")];
  const pieces: KeyParams[] = [];
  for (let at = 0; at < characters.length; at += longestText) {
    pieces.push({ type: "char", modifiers: 0, text: characters.slice(at, at + longestText).join("") });
  }
  return pieces;
}

/** Splits text into graphemes: an emoji of several code points is one, and arrives as one. */
function charactersOf(text: string): string[] {
  return [...new Intl.Segmenter().segment(text)].flatMap(({ segment }) =>
    segment.length <= longestText ? [segment] : [...segment],
  );
}
