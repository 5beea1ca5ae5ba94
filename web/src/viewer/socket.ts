import { closingOf, type Closing } from "./closing";
import { probe } from "./probe";

/** A socket that brings a session's picture, and tells what its end means. */
export class PictureSocket {
  readonly socket: WebSocket;
  /** It is closed: there is nothing to close any more. */
  private ended = false;
  /** Nobody wants to hear of it any more. */
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

  /** Tells nobody any more. False if it had ended already. */
  abandon(): boolean {
    this.abandoned = true;
    if (this.ended) return false;
    this.ended = true;
    return true;
  }
}
