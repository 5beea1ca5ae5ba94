import { backoff } from "../backoff";
import { eventNames, parseEvent, type LiveEvent } from "./event";

export type StreamState = "connecting" | "live" | "lost";

export interface StreamHandlers {
  event: (event: LiveEvent) => void;
  state: (state: StreamState) => void;
  /** The stream was refused, perhaps because the login has expired: check it. */
  refused: () => void;
}

/** A hidden page closes its stream after this many milliseconds. */
const patience = 30_000;

/**
 * The server's events. The browser itself reconnects after a lost connection and requests missed events.
 * After a refusal, for example by a proxy during a restart, it gives up, and we try again.
 *
 * A browser has only six plain connections to a server, for all its tabs together. So a hidden page closes
 * its own, and opens it again when it becomes visible.
 */
export class EventStream {
  private source: EventSource | null = null;
  private retryTimer: number | undefined;
  private hideTimer: number | undefined;
  private attempt = 0;

  constructor(
    private readonly url: string,
    private readonly handlers: StreamHandlers,
  ) {
    document.addEventListener("visibilitychange", this.look);
    this.open();
  }

  /** Retries at once. */
  retry = (): void => {
    this.drop();
    this.open();
  };

  close(): void {
    document.removeEventListener("visibilitychange", this.look);
    window.clearTimeout(this.hideTimer);
    this.drop();
  }

  private look = (): void => {
    window.clearTimeout(this.hideTimer);
    if (document.hidden) this.hideTimer = window.setTimeout(() => this.drop(), patience);
    else if (this.source === null) {
      this.handlers.state("connecting");
      this.open();
    }
  };

  private drop(): void {
    window.clearTimeout(this.retryTimer);
    this.source?.close();
    this.source = null;
  }

  private open(): void {
    const source = new EventSource(this.url);
    this.source = source;
    source.onopen = () => {
      this.attempt = 0;
      this.handlers.state("live");
    };
    source.onerror = () => {
      this.handlers.state("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      this.retryTimer = window.setTimeout(() => this.open(), backoff(this.attempt++));
      this.handlers.refused();
    };
    for (const name of eventNames) {
      source.addEventListener(name, (message: MessageEvent<string>) => {
        const event = parseEvent(name, message.data);
        if (event) this.handlers.event(event);
      });
    }
  }
}
