import { backoff } from "../backoff";

export type StreamState = "connecting" | "live" | "lost";

interface SourceHandlers {
  message: (name: string, data: string) => void;
  state: (state: StreamState) => void;
  /** A new stream is open, and does not continue an earlier one: what was sent before now has to be read. */
  open?: () => void;
  /** The stream was refused, perhaps because the login has expired: check it. */
  refused?: () => void;
}

/** A hidden page closes its streams after this many milliseconds. */
const patience = 30_000;

/**
 * A stream of server-sent events. The browser itself reconnects after a lost connection and requests missed events.
 * After a refusal, for example by a proxy during a restart, it gives up, and we try again.
 *
 * A browser has only six plain connections to a server, for all its tabs together. So a hidden page closes
 * its own, and opens it again when it becomes visible.
 */
export class Source {
  private source: EventSource | null = null;
  private retryTimer: number | undefined;
  private hideTimer: number | undefined;
  private attempt = 0;

  constructor(
    private readonly url: string,
    private readonly names: readonly string[],
    private readonly handlers: SourceHandlers,
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
    let opened = false;
    source.onopen = () => {
      this.attempt = 0;
      this.handlers.state("live");
      if (!opened) this.handlers.open?.();
      opened = true;
    };
    source.onerror = () => {
      this.handlers.state("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      this.retryTimer = window.setTimeout(() => this.open(), backoff(this.attempt++));
      this.handlers.refused?.();
    };
    for (const name of this.names) {
      source.addEventListener(name, (message: MessageEvent<string>) => this.handlers.message(name, message.data));
    }
  }
}
