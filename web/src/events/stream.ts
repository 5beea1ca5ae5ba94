import { eventNames, parseEvent, type EventName, type LiveEvent } from "./event";
import { Source, type StreamState } from "./source";

export interface StreamHandlers {
  event: (event: LiveEvent) => void;
  state: (state: StreamState) => void;
  refused: () => void;
}

/** The events of the whole page. */
export function openEvents(url: string, { event, ...handlers }: StreamHandlers): Source {
  return new Source(url, eventNames, {
    ...handlers,
    message: (name, data) => {
      const parsed = parseEvent(name as EventName, data);
      if (parsed) event(parsed);
    },
  });
}
