import { closingOf, type Closing } from "./closing";
import { probe } from "./probe";

/** A socket for a session's picture that interprets its end. */
export class PictureSocket {
  readonly socket: WebSocket;
  /** Whether it is closed. */
  private ended = false;
  /** Whether events are ignored. */
  private abandoned = false;

  constructor(url: string, protocols: string[], closed: (closing: Closing) => void) {
    this.socket = new WebSocket(url, protocols);
    let opened = false;
    this.socket.addEventListener("open", () => {
      opened = true;
    });
    this.socket.addEventListener("close", (event) => {
      if (this.ended) return;
      this.ended = true;
      const closing = closingOf(event.code, event.reason);
      if (opened) closed(closing);
      else void probe(url).then((found) => this.abandoned || closed(found ?? closing));
    });
  }

  get open(): boolean {
    return !this.ended && this.socket.readyState === WebSocket.OPEN;
  }

  /** Ignores all further events. False if it had already ended. */
  abandon(): boolean {
    this.abandoned = true;
    if (this.ended) return false;
    this.ended = true;
    return true;
  }
}
