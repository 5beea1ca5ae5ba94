import { backoff } from "../backoff";
import { parseThumbnail, watchMessage } from "./message";

type Painter = (jpeg: Blob) => void;

// The widest tile on common screens; high-density screens get sharper pictures.
const width = window.devicePixelRatio > 1.5 ? 720 : 480;

/**
 * The socket for the thumbnails of all tiles. It is open only while a tile is visible, and requests only visible ones.
 */
export class ThumbnailSocket {
  private readonly painters = new Map<string, Painter>();
  private socket: WebSocket | null = null;
  private attempt = 0;
  private timer: number | undefined;
  private asked = "";

  constructor(private readonly url: string) {
    document.addEventListener("visibilitychange", this.ask);
  }

  watch(id: string, painter: Painter): void {
    this.painters.set(id, painter);
    this.askSoon();
  }

  unwatch(id: string): void {
    this.painters.delete(id);
    this.askSoon();
  }

  close(): void {
    document.removeEventListener("visibilitychange", this.ask);
    this.painters.clear();
    window.clearTimeout(this.timer);
    const { socket } = this;
    this.socket = null;
    // Browsers log an error for a socket that is closed before it opens.
    if (socket?.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket?.close();
  }

  // Scrolling changes many tiles at once: send one request.
  private asking = false;
  private askSoon(): void {
    if (this.asking) return;
    this.asking = true;
    window.setTimeout(() => {
      this.asking = false;
      this.ask();
    }, 50);
  }

  private ask = (): void => {
    const wanted = document.hidden ? [] : [...this.painters.keys()];
    if (this.socket === null) {
      if (wanted.length > 0) this.open();
      return;
    }
    if (this.socket.readyState !== WebSocket.OPEN) return;
    const message = watchMessage(wanted, width);
    if (message === this.asked) return;
    this.asked = message;
    this.socket.send(message);
  };

  private open(): void {
    window.clearTimeout(this.timer);
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.attempt = 0;
      this.asked = "";
      this.ask();
    };
    socket.onmessage = (message: MessageEvent<unknown>) => {
      if (!(message.data instanceof ArrayBuffer)) return;
      const thumbnail = parseThumbnail(message.data);
      if (thumbnail) this.painters.get(thumbnail.sessionId)?.(thumbnail.jpeg);
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = null;
      if (this.painters.size === 0) return;
      this.timer = window.setTimeout(this.ask, backoff(this.attempt++));
    };
  }
}
