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

/** One connection to a session's screen, from opening to close; for another one, make another. */
export class Connection {
  private readonly rfb: RFB;
  private readonly line: PictureSocket;

  constructor(
    private readonly target: HTMLElement,
    url: string,
    settings: Settings,
    handlers: ConnectionHandlers,
  ) {
    // noVNC keeps the close code to itself, so the socket is ours.
    this.line = new PictureSocket(url, ["binary"], handlers.closed);
    try {
      this.rfb = new RFB(target, this.line.socket);
    } catch (error) {
      // Nobody else closes it then.
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
    // noVNC lets no key go up any more once it is view-only, so they go up before.
    if (!driving && !this.rfb.viewOnly) releaseKeys();
    this.rfb.viewOnly = !driving;
    // Where a session hides its pointer, who drives still sees theirs.
    this.rfb.showDotCursor = driving;
    this.rfb.scaleViewport = scaling === "fit";
    // Only who drives may change the size of the agent's screen.
    this.rfb.resizeSession = driving && scaling === "remote";
    this.rfb.qualityLevel = quality;
    // Who drives can also reach the picture with the Tab key.
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

  /** Presses the keys in order and lets them go in the opposite order. */
  press(keysyms: number[]): void {
    for (const keysym of keysyms) this.rfb.sendKey(keysym, null, true);
    for (const keysym of keysyms.toReversed()) this.rfb.sendKey(keysym, null, false);
  }

  setClipboard(text: string): void {
    this.rfb.clipboardPasteFrom(text);
  }

  /** The picture as it is now, to stand there while there is no connection. */
  still(): ImageData | null {
    const canvas = this.canvas;
    return canvas && canvas.width > 0 ? this.rfb.getImageData() : null;
  }

  get canvas(): HTMLCanvasElement | null {
    return this.target.querySelector("canvas");
  }
}

/**
 * Lets all keys that noVNC holds down go up. It does that when the window loses the focus, and we have
 * more occasions: the picture alone lost it, or the person is no longer driving.
 */
export function releaseKeys(): void {
  window.dispatchEvent(new Event("blur"));
}
