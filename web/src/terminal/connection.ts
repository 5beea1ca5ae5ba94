import type { Closing } from "../viewer/closing";
import { PictureSocket } from "../viewer/socket";
import { parseTerminalMessage, type TerminalMessage } from "./message";

/** The server accepts messages of up to 1 MiB; pasted text may be longer. */
const pieceSize = 64 * 1024;

export interface TerminalSize {
  cols: number;
  rows: number;
}

interface TerminalHandlers {
  opened: () => void;
  output: (bytes: Uint8Array) => void;
  told: (message: TerminalMessage) => void;
  closed: (closing: Closing) => void;
}

/** One connection to a shell in a session. The shell ends with it. */
export class TerminalConnection {
  private readonly line: PictureSocket;

  constructor(url: string, handlers: TerminalHandlers) {
    this.line = new PictureSocket(url, [], handlers.closed);
    const { socket } = this.line;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => this.line.open && handlers.opened());
    socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      if (!this.line.open) return;
      if (data instanceof ArrayBuffer) {
        handlers.output(new Uint8Array(data));
      } else if (typeof data === "string") {
        const message = parseTerminalMessage(data);
        if (message !== null) handlers.told(message);
      }
    });
  }

  type(bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.line.open) return;
    for (let at = 0; at < bytes.length; at += pieceSize) {
      this.line.socket.send(bytes.subarray(at, at + pieceSize));
    }
  }

  resize({ cols, rows }: TerminalSize): void {
    if (this.line.open) this.line.socket.send(JSON.stringify({ type: "resize", cols, rows }));
  }

  close(): void {
    if (this.line.abandon()) this.line.socket.close();
  }
}
