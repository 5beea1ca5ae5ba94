//! Reads server-sent events as they arrive. Pure.

use std::{mem::take, time::Duration};

/// A complete event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its kind; empty if it has none.
    pub kind: String,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Its data; empty for an event that only has an id or a pause.
    pub data: String,
    /// How long to wait before reconnecting.
    pub retry: Option<Duration>,
}

/// Events from bytes.
#[derive(Default)]
pub struct Parser {
    line: Vec<u8>,
    after_return: bool,
    kind: String,
    id: Option<String>,
    data: Option<String>,
    retry: Option<Duration>,
}

impl Parser {
    /// Reads bytes, and returns the events that they complete.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_return = take(&mut self.after_return);
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    let line = take(&mut self.line);
                    events.extend(self.end_line(&String::from_utf8_lossy(&line)));
                }
                _ => self.line.push(byte),
            }
        }
        events
    }

    /// Bytes of the event that is not complete.
    pub fn unread(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, String::len)
    }

    fn end_line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let kind = take(&mut self.kind);
            let event = Event {
                kind: String::new(),
                id: self.id.take(),
                data: self.data.take().unwrap_or_default(),
                retry: self.retry.take(),
            };
            return (event != Event::default()).then_some(Event { kind, ..event });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.kind),
            "id" => self.id = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => data.extend(["\n", value]),
                None => self.data = Some(value.to_owned()),
            },
            "retry" => self.retry = value.parse().ok().map(Duration::from_millis),
            // Comments.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: Option<&str>, data: &str) -> Event {
        Event { id: id.map(str::to_owned), data: data.to_owned(), ..Event::default() }
    }

    #[test]
    fn events_are_read_in_any_pieces_and_with_any_line_ends() {
        let text = ": ping\n\nid: 1/0\ndata: {\"a\":\ndata: \"é\"}\n\ndata:x\n\n";
        let expected = [event(Some("1/0"), "{\"a\":\n\"é\"}"), event(None, "x")];
        for text in [text.to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
            for size in [1, 2, 7, 1000] {
                let mut parser = Parser::default();
                let pieces = text.as_bytes().chunks(size);
                let events: Vec<_> = pieces.flat_map(|piece| parser.read(piece)).collect();
                assert_eq!(events, expected, "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn an_event_without_data_still_has_an_id_and_a_pause() {
        let events = Parser::default().read(b"id: 0\nretry: 3000\ndata:\n\n");
        let retry = Some(Duration::from_secs(3));
        assert_eq!(events, [Event { retry, ..event(Some("0"), "") }]);
    }

    #[test]
    fn an_event_has_the_kind_that_it_names() {
        let events = Parser::default().read(b"event: exit\ndata: x\n\nevent: a\n\ndata: y\n\n");
        assert_eq!(events, [Event { kind: "exit".into(), ..event(None, "x") }, event(None, "y")]);
    }

    #[test]
    fn an_incomplete_event_is_kept_until_it_is_complete() {
        let mut parser = Parser::default();
        assert!(parser.read(b"data: half").is_empty());
        assert!(parser.unread() > 0);
        assert_eq!(parser.read(b"\n\n"), [event(None, "half")]);
        assert_eq!(parser.unread(), 0);
    }
}
