type Keys = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "shiftKey">;

const modifiers = new Set(["Control", "Alt", "Shift", "Meta", "AltGraph"]);

/** Whether Ctrl, Alt and Shift are now down together and nothing else: the way out of the desktop. */
export function isWayOut(event: Keys): boolean {
  return modifiers.has(event.key) && event.ctrlKey && event.altKey && event.shiftKey;
}
