import { isWayOut } from "../viewer/chord";
import { composes, keyDown, keyUp, pasteText, typeText } from "./keys";
import { mac } from "./mac";
import type { KeyParams } from "./message";

/** Longer texts would be lost on the way. */
const longestPaste = 10_000;

interface KeyboardHandlers {
  send: (keys: KeyParams[]) => void;
  wayOut: () => void;
  focus: (focused: boolean) => void;
  /** Called with a description of what failed. */
  failed: (text: string) => void;
}

/**
 * Forwards what is typed into an invisible field. A field is needed, because only fields get events for input methods
 * and pasting.
 */
export class Keyboard {
  /** When false, keys are left to the page. */
  active = false;
  private readonly held = new Map<string, KeyParams>();
  private readonly deaf = new AbortController();
  /** Whether the last copy happened in the session. */
  private copiedThere = false;

  constructor(
    private readonly field: HTMLTextAreaElement,
    private readonly handlers: KeyboardHandlers,
  ) {
    const { signal } = this.deaf;
    field.addEventListener("keydown", this.onDown, { signal });
    field.addEventListener("keyup", this.onUp, { signal });
    field.addEventListener("input", (event) => !(event as InputEvent).isComposing && this.empty(), { signal });
    field.addEventListener("compositionend", () => this.empty(), { signal });
    field.addEventListener("paste", this.onPaste, { signal });
    field.addEventListener("focus", () => handlers.focus(true), { signal });
    field.addEventListener("blur", this.onBlur, { signal });
    // The desktop view dispatches an artificial event to release its own keys.
    window.addEventListener("blur", (event) => event.isTrusted && this.onBlur(), { signal });
  }

  focus(): void {
    this.field.focus({ preventScroll: true });
  }

  /** Releases all held keys. */
  release(): void {
    const keys = [...this.held.values()].reverse().map(keyUp);
    this.held.clear();
    if (keys.length > 0) this.handlers.send(keys);
  }

  close(): void {
    this.deaf.abort();
  }

  private onDown = (event: KeyboardEvent): void => {
    if (!this.active) return;
    if (isWayOut(event)) {
      event.preventDefault();
      this.release();
      this.field.blur();
      this.handlers.wayOut();
      return;
    }
    if (composes(event) || this.isPaste(event)) return;
    event.preventDefault();
    const shortcut = (event.ctrlKey || event.metaKey) && !event.altKey;
    if (shortcut && /^[cx]$/i.test(event.key)) this.copiedThere = true;
    const down = keyDown(withAltGraph(event), mac);
    this.held.set(event.code || event.key, down);
    this.handlers.send([down]);
  };

  private onUp = (event: KeyboardEvent): void => {
    const name = event.code || event.key;
    const down = this.held.get(name);
    if (down === undefined) return;
    event.preventDefault();
    this.held.delete(name);
    this.handlers.send([keyUp(down)]);
    // A Mac reports no key releases while Command is held.
    if (mac && event.key === "Meta") this.release();
  };

  /** Whether to paste from here: unless something was copied in the session since. */
  private isPaste(event: KeyboardEvent): boolean {
    const keys = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "v";
    return keys && !this.copiedThere;
  }

  private onPaste = (event: ClipboardEvent): void => {
    event.preventDefault();
    if (!this.active) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    // Ctrl is held, and would turn the text into shortcuts.
    this.release();
    if (text.length <= longestPaste) this.handlers.send(pasteText(text));
    else this.handlers.failed(`Text of more than ${longestPaste} characters cannot be pasted. Upload it as a file.`);
  };

  /** Sends text that an input method, an emoji menu or dictation left in the field. */
  private empty(): void {
    const text = this.field.value;
    this.field.value = "";
    if (this.active && text) this.handlers.send(typeText(text));
  }

  private onBlur = (): void => {
    this.release();
    this.copiedThere = false;
    this.handlers.focus(false);
  };
}

function withAltGraph(event: KeyboardEvent) {
  const { key, code, keyCode, location, repeat, altKey, ctrlKey, metaKey, shiftKey } = event;
  const altGraph = event.getModifierState("AltGraph");
  return { key, code, keyCode, location, repeat, altKey, ctrlKey, metaKey, shiftKey, altGraph };
}
