import { FitAddon } from "@xterm/addon-fit";
import { Terminal, type ITheme } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { bytes as sizeOf } from "../format";
import { copy } from "../ui/CopyButton";
import { isWayOut } from "../viewer/chord";
import type { TerminalSize } from "./connection";
import { avoidInlineStyles } from "./inline";

/** A program can write faster than the page renders. Output beyond this many bytes is dropped. */
const mostUnseen = 16 << 20;

interface ScreenHandlers {
  typed: (bytes: Uint8Array<ArrayBuffer>) => void;
  resized: (size: TerminalSize) => void;
  focus: (focused: boolean) => void;
  /** The person wants the keyboard back. */
  wayOut: () => void;
}

/** The display of a terminal: xterm.js in an element, with the element's size. */
export class TerminalScreen {
  private readonly terminal: Terminal;
  private readonly fitting = new FitAddon();
  private readonly observer: ResizeObserver;
  private readonly allowInlineStyles: () => void;
  /** Bytes that were written but not rendered, and bytes dropped since. */
  private unseen = 0;
  private leftOut = 0;

  constructor(element: HTMLElement, theme: ITheme, handlers: ScreenHandlers) {
    this.terminal = new Terminal({
      theme,
      fontFamily: getComputedStyle(element).fontFamily,
      fontSize: fontSizeOf(element),
      lineHeight: 1.15,
      cursorBlink: !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
      // Programs choose colours for dark terminals.
      minimumContrastRatio: 4.5,
      scrollback: 5000,
      macOptionIsMeta: true,
    });
    this.terminal.loadAddon(this.fitting);
    this.allowInlineStyles = avoidInlineStyles();
    this.terminal.open(element);
    this.fitting.fit();

    const text = new TextEncoder();
    this.terminal.onData((typed) => handlers.typed(text.encode(typed)));
    this.terminal.onBinary((typed) => handlers.typed(Uint8Array.from(typed, (char) => char.charCodeAt(0))));
    this.terminal.onResize(handlers.resized);
    this.terminal.attachCustomKeyEventHandler((event) => this.takesKey(event, handlers.wayOut));
    this.terminal.textarea?.addEventListener("focus", () => handlers.focus(true));
    this.terminal.textarea?.addEventListener("blur", () => handlers.focus(false));
    this.observer = new ResizeObserver(() => {
      // Narrow windows have a smaller font.
      this.terminal.options.fontSize = fontSizeOf(element);
      this.fitting.fit();
    });
    this.observer.observe(element);
  }

  get size(): TerminalSize {
    const { cols, rows } = this.terminal;
    return { cols, rows };
  }

  set theme(theme: ITheme) {
    this.terminal.options.theme = theme;
  }

  /** Whether keys go to the shell. */
  set active(active: boolean) {
    this.terminal.options.disableStdin = !active;
    this.terminal.options.cursorInactiveStyle = active ? "outline" : "none";
    if (!active) this.terminal.blur();
  }

  show(bytes: Uint8Array): void {
    if (this.unseen > mostUnseen) {
      this.leftOut += bytes.length;
      return;
    }
    this.unseen += bytes.length;
    this.terminal.write(bytes, () => {
      this.unseen -= bytes.length;
      if (this.unseen > 0 || this.leftOut === 0) return;
      this.terminal.write(`\r\n\x1b[0m[${sizeOf(this.leftOut)} left out]\r\n`);
      this.leftOut = 0;
    });
  }

  /** Clears everything, for another shell. */
  clear(): void {
    this.terminal.reset();
  }

  focus(): void {
    this.terminal.focus();
  }

  close(): void {
    this.observer.disconnect();
    this.terminal.dispose();
    this.allowInlineStyles();
  }

  /** False for keys that are not for the shell. */
  private takesKey(event: KeyboardEvent, wayOut: () => void): boolean {
    if (event.type !== "keydown") return true;
    if (isWayOut(event)) {
      wayOut();
      return false;
    }
    const { ctrlKey, altKey, metaKey, shiftKey, code } = event;
    if (!ctrlKey || altKey || metaKey) return true;
    // Without a selection, Ctrl+C interrupts, as in every terminal.
    const copies = code === "Insert" || (code === "KeyC" && (shiftKey || this.terminal.hasSelection()));
    if (copies) {
      event.preventDefault();
      void this.copySelection();
      return false;
    }
    // The browser pastes.
    return !(code === "KeyV" && shiftKey);
  }

  private async copySelection(): Promise<void> {
    const selected = this.terminal.getSelection();
    if (selected === "" || !(await copy(selected))) return;
    this.terminal.clearSelection();
    this.terminal.focus();
  }
}

function fontSizeOf(element: HTMLElement): number {
  return Number.parseFloat(getComputedStyle(element).fontSize);
}
