import RFB from "@novnc/novnc";
import type { Closing } from "./closing";
import { PictureSocket } from "./socket";

export type Scaling = "fit" | "actual" | "remote";

export interface Settings {
  driving: boolean;
  scaling: Scaling;
  quality: number;
}

export interface ConnectionHandlers {
  connected: () => void;
  closed: (closing: Closing) => void;
  clipboard: (text: string) => void;
}

/** One connection to a session's screen, from open to close. */
export class Connection {
  private readonly rfb: RFB;
  private readonly line: PictureSocket;

  constructor(
    private readonly target: HTMLElement,
    url: string,
    settings: Settings,
    handlers: ConnectionHandlers,
  ) {
    // noVNC does not expose the close code, so we own the socket.
    this.line = new PictureSocket(url, ["binary"], handlers.closed);
    try {
      this.rfb = new RFB(target, this.line.socket);
    } catch (error) {
      // noVNC does not close it then.
      this.line.abandon();
      this.line.socket.close();
      throw error;
    }
    this.rfb.background = "transparent";
    this.rfb.focusOnClick = true;
    this.rfb.compressionLevel = 2;
    this.rfb.addEventListener("connect", () => {
      if (this.line.open) handlers.connected();
    });
    this.rfb.addEventListener("clipboard", (event) => handlers.clipboard(event.detail.text));
    this.apply(settings);
  }

  apply({ driving, scaling, quality }: Settings): void {
    // noVNC releases no keys once it is view-only, so they are released before.
    if (!driving && !this.rfb.viewOnly) releaseKeys();
    this.rfb.viewOnly = !driving;
    // If a session hides its pointer, the person in control still sees a dot.
    this.rfb.showDotCursor = driving;
    this.rfb.scaleViewport = scaling === "fit";
    // Only the person in control may resize the session's screen.
    this.rfb.resizeSession = driving && scaling === "remote";
    this.rfb.qualityLevel = quality;
    // The person in control can reach the picture with the Tab key.
    if (this.canvas) this.canvas.tabIndex = driving ? 0 : -1;
  }

  close(): void {
    if (!this.line.abandon()) return;
    releaseKeys();
    this.rfb.disconnect();
  }

  focus(): void {
    this.rfb.focus({ preventScroll: true });
  }

  blur(): void {
    releaseKeys();
    this.rfb.blur();
  }

  /** Presses the keys in order and releases them in reverse. */
  press(keysyms: number[]): void {
    for (const keysym of keysyms) this.rfb.sendKey(keysym, null, true);
    for (const keysym of keysyms.toReversed()) this.rfb.sendKey(keysym, null, false);
  }

  setClipboard(text: string): void {
    this.rfb.clipboardPasteFrom(text);
  }

  /** The current picture, to show while disconnected. */
  still(): ImageData | null {
    const canvas = this.canvas;
    return canvas && canvas.width > 0 ? this.rfb.getImageData() : null;
  }

  get canvas(): HTMLCanvasElement | null {
    return this.target.querySelector("canvas");
  }
}

/**
 * Releases all keys held by noVNC. It does so itself only when the window loses the focus; we also need it when only
 * the picture loses it, or when control ends.
 */
export function releaseKeys(): void {
  window.dispatchEvent(new Event("blur"));
}
