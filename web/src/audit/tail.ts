import type { AuditEntry } from "../api/wire";
import { backoff } from "../backoff";
import { parseObject } from "../json";

export type TailState = "connecting" | "live" | "lost";

interface TailHandlers {
  /** A new stream is open: rows before now have to be read. */
  open: () => void;
  row: (row: AuditEntry) => void;
  state: (state: TailState) => void;
}

/** A hidden page closes its stream after this many milliseconds, as the one of events does. */
const patience = 30_000;

/** New rows of the audit log. After a lost connection, the browser asks for the rows it missed. */
export class Tail {
  private source: EventSource | null = null;
  private retryTimer: number | undefined;
  private hideTimer: number | undefined;
  private attempt = 0;

  constructor(
    private readonly url: string,
    private readonly handlers: TailHandlers,
  ) {
    document.addEventListener("visibilitychange", this.look);
    this.open();
  }

  close(): void {
    document.removeEventListener("visibilitychange", this.look);
    window.clearTimeout(this.hideTimer);
    this.drop();
  }

  private look = (): void => {
    window.clearTimeout(this.hideTimer);
    if (document.hidden) this.hideTimer = window.setTimeout(() => this.drop(), patience);
    else if (this.source === null) this.open();
  };

  private drop(): void {
    window.clearTimeout(this.retryTimer);
    this.source?.close();
    this.source = null;
  }

  private open(): void {
    this.handlers.state("connecting");
    const source = new EventSource(this.url);
    this.source = source;
    let opened = false;
    source.onopen = () => {
      this.attempt = 0;
      this.handlers.state("live");
      if (!opened) this.handlers.open();
      opened = true;
    };
    source.onerror = () => {
      this.handlers.state("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      this.retryTimer = window.setTimeout(() => this.open(), backoff(this.attempt++));
    };
    source.addEventListener("audit", (message: MessageEvent<string>) => {
      const row = parseObject(message.data);
      if (typeof row?.id === "number" && typeof row.event_type === "string") {
        this.handlers.row(row as unknown as AuditEntry);
      }
    });
  }
}
