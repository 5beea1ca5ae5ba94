//! Server-sent events: reads them piece by piece, and writes them.

use bytes::{Bytes, BytesMut};

/// The largest event. A provider that sends more is cut off.
pub const MAX_EVENT: usize = 8 << 20;

/// An event as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its data.
    pub data: String,
    /// All its bytes, with the empty line that ends it.
    pub raw: Bytes,
}

/// The stream is not one of events.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SseError {
    /// An event does not end.
    #[error("an event is larger than {MAX_EVENT} bytes")]
    TooLarge,
    /// An event is not text.
    #[error("an event is not UTF-8")]
    NotText,
}

/// Splits a stream into events.
#[derive(Debug, Default)]
pub struct Parser {
    buffer: BytesMut,
    /// How much of the buffer has no end of an event.
    searched: usize,
}

impl Parser {
    /// Adds bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete event. Comments alone are an event without data.
    pub fn event(&mut self) -> Result<Option<Event>, SseError> {
        let Some(end) = self.end() else {
            return match self.buffer.len() > MAX_EVENT {
                true => Err(SseError::TooLarge),
                false => Ok(None),
            };
        };
        self.searched = 0;
        let raw = self.buffer.split_to(end).freeze();
        let text = std::str::from_utf8(&raw).map_err(|_| SseError::NotText)?;
        let (mut name, mut data) = (None, Vec::new());
        for line in text.split(['\n', '\r']) {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => name = Some(value.to_owned()),
                "data" => data.push(value),
                _ => {}
            }
        }
        let data = data.join("\n");
        Ok(Some(Event { name, data, raw }))
    }

    /// Where the first event ends.
    fn end(&mut self) -> Option<usize> {
        let from = self.searched.saturating_sub(3);
        let rest = self.buffer.get(from..)?;
        let at = |end: &[u8]| {
            let found = rest.windows(end.len()).position(|window| window == end);
            found.map(|at| from + at + end.len())
        };
        let found = [at(b"\n\n"), at(b"\r\n\r\n"), at(b"\r\r")].into_iter().flatten().min();
        self.searched = self.buffer.len();
        found
    }

    /// What was not ended by an empty line, as an event. Servers that stop early may leave one.
    pub fn finish(&mut self) -> Result<Option<Event>, SseError> {
        if self.buffer.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        self.push(b"\n\n");
        self.event()
    }
}

/// Writes an event.
pub fn write(out: &mut String, name: Option<&str>, data: &str) {
    if let Some(name) = name {
        out.push_str("event: ");
        out.push_str(name);
        out.push('\n');
    }
    for line in data.split('\n') {
        out.push_str("data: ");
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
        let mut parser = Parser::default();
        let mut found = Vec::new();
        for piece in pieces {
            parser.push(piece);
            while let Some(event) = parser.event().unwrap() {
                found.push((event.name, event.data));
            }
        }
        found
    }

    #[test]
    fn an_event_may_arrive_in_any_pieces_and_with_any_line_ends() {
        let whole = "event: a\ndata: 1\n\n: comment\n\ndata: {\"x\":\ndata: 2}\r\n\r\ndata:3\n\n";
        let expected = [
            (Some("a".to_owned()), "1".to_owned()),
            (None, String::new()),
            (None, "{\"x\":\n2}".to_owned()),
            (None, "3".to_owned()),
        ];
        assert_eq!(events(&[whole.as_bytes()]), expected);
        let single: Vec<_> = whole.as_bytes().chunks(1).collect();
        assert_eq!(events(&single), expected);
    }

    #[test]
    fn the_raw_bytes_of_all_events_are_the_stream() {
        let whole = b"event: a\r\ndata: 1\r\n\r\n: ping\n\ndata: [DONE]\n\n";
        let mut parser = Parser::default();
        parser.push(whole);
        let mut raw = Vec::new();
        while let Some(event) = parser.event().unwrap() {
            raw.extend_from_slice(&event.raw);
        }
        assert_eq!(raw, whole);
    }

    #[test]
    fn an_event_without_end_is_refused_when_it_is_too_large() {
        let mut parser = Parser::default();
        parser.push(&vec![b'x'; MAX_EVENT + 1]);
        assert_eq!(parser.event(), Err(SseError::TooLarge));
    }

    #[test]
    fn an_unfinished_event_is_found_at_the_end() {
        let mut parser = Parser::default();
        parser.push(b"data: [DONE]");
        assert_eq!(parser.event().unwrap(), None);
        assert_eq!(parser.finish().unwrap().map(|event| event.data).as_deref(), Some("[DONE]"));
        assert_eq!(parser.finish().unwrap(), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(name in "[a-z.]{1,20}", data in "[^\r]{0,200}", size in 1usize..40) {
            let mut text = String::new();
            write(&mut text, Some(&name), &data);
            let pieces: Vec<_> = text.as_bytes().chunks(size).collect();
            prop_assert_eq!(events(&pieces), vec![(Some(name), data)]);
        }
    }
}
