type Keys = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "shiftKey">;

const modifiers = new Set(["Control", "Alt", "Shift", "Meta", "AltGraph"]);

/** Whether exactly Ctrl, Alt and Shift are held: the shortcut to leave the desktop. */
export function isWayOut(event: Keys): boolean {
  return modifiers.has(event.key) && event.ctrlKey && event.altKey && event.shiftKey;
}
