import type { AuditEntry } from "../api/wire";
import { Source, type StreamState } from "../events/source";
import { parseObject } from "../json";

interface TailHandlers {
  open: () => void;
  row: (row: AuditEntry) => void;
  state: (state: StreamState) => void;
}

/** New rows of the audit log. After a lost connection, the browser asks for the rows it missed. */
export function openTail(url: string, { row, ...handlers }: TailHandlers): Source {
  handlers.state("connecting");
  return new Source(url, ["audit"], {
    ...handlers,
    message: (_name, data) => {
      const parsed = parseObject(data);
      if (typeof parsed?.id === "number" && typeof parsed.event_type === "string") {
        row(parsed as unknown as AuditEntry);
      }
    },
  });
}
