import type { Closing } from "../viewer/closing";
import { PictureSocket } from "../viewer/socket";
import { parseMessage, type CastMessage, type CastRequest } from "./message";

interface CastHandlers {
  connected: () => void;
  closed: (closing: Closing) => void;
  message: (message: CastMessage) => void;
  /** Resolves when the picture was painted, or was replaced by a newer one. */
  picture: (jpeg: Blob) => Promise<unknown>;
}

/** One connection to the stream of a session's browser, from open to close. */
export class CastConnection {
  private readonly line: PictureSocket;
  /** The number of the next picture. */
  private next = 0;
  /** The last painted picture, and the last one acknowledged to the server. */
  private painted = -1;
  private told = -1;
  private paused = false;

  constructor(url: string, handlers: CastHandlers) {
    this.line = new PictureSocket(url, [], handlers.closed);
    const { socket } = this.line;
    socket.binaryType = "blob";
    socket.addEventListener("open", () => this.line.open && handlers.connected());
    socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      if (!this.line.open) return;
      if (data instanceof Blob) {
        const seq = this.next++;
        void handlers.picture(data).then(() => this.done(seq));
      } else if (typeof data === "string") {
        const message = parseMessage(data);
        if (message?.kind === "frame") this.next = message.frame.seq;
        if (message !== null) handlers.message(message);
      }
    });
  }

  send(request: CastRequest): void {
    if (this.line.open) this.line.socket.send(JSON.stringify(request));
  }

  /** Pauses while the picture is hidden: the server waits for acknowledgements. */
  pause(paused: boolean): void {
    this.paused = paused;
    this.acknowledge();
  }

  close(): void {
    if (this.line.abandon()) this.line.socket.close();
  }

  private done(seq: number): void {
    this.painted = Math.max(this.painted, seq);
    this.acknowledge();
  }

  private acknowledge(): void {
    if (this.paused || this.painted <= this.told) return;
    this.told = this.painted;
    this.send({ method: "ack", params: { seq: this.told } });
  }
}
