//! Splits the byte stream of the browser into messages.

use std::ffi::CStr;

use bytes::{Buf as _, BytesMut};

use crate::envelope::HEAD;

/// Larger buffers are freed after a large message.
const SPARE: usize = 1 << 20;

/// Finds messages in a byte stream that arrives in pieces of any size.
pub(crate) struct MessageSplitter {
    limit: usize,
    received: BytesMut,
    /// How many bytes of `received` contain no terminator.
    searched: usize,
    /// The start of an oversized message; the rest is discarded as it arrives.
    skipped: Option<BytesMut>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Message(BytesMut),
    /// Only its start was kept.
    TooLarge(BytesMut),
}

impl MessageSplitter {
    pub fn new(limit: usize) -> Self {
        Self { limit, received: BytesMut::new(), searched: 0, skipped: None }
    }

    /// The buffer for the next bytes.
    pub fn room(&mut self, length: usize) -> &mut BytesMut {
        if self.received.is_empty() && self.received.capacity() > SPARE {
            self.received = BytesMut::new();
        }
        self.received.reserve(length);
        &mut self.received
    }

    /// The next complete message, if any.
    pub fn next(&mut self) -> Option<Frame> {
        let unsearched = self.received.get(self.searched..).unwrap_or_default();
        // Vectorized, unlike a manual search.
        let Ok(found) = CStr::from_bytes_until_nul(unsearched) else {
            self.searched = self.received.len();
            if self.searched > self.limit || self.skipped.is_some() {
                self.skip();
            }
            return None;
        };
        let end = self.searched + found.count_bytes();
        self.searched = 0;
        let mut message = self.received.split_to(end);
        self.received.advance(1);
        match self.skipped.take() {
            Some(head) => Some(Frame::TooLarge(head)),
            None if end > self.limit => {
                message.truncate(HEAD);
                Some(Frame::TooLarge(message))
            }
            None => Some(Frame::Message(message)),
        }
    }

    fn skip(&mut self) {
        let received = std::mem::take(&mut self.received);
        self.searched = 0;
        self.skipped.get_or_insert_with(|| received.iter().copied().take(HEAD).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(stream: &[u8], chunk: usize, limit: usize) -> Vec<Frame> {
        let mut frames = MessageSplitter::new(limit);
        let mut found = Vec::new();
        for chunk in stream.chunks(chunk) {
            frames.room(chunk.len()).extend_from_slice(chunk);
            found.extend(std::iter::from_fn(|| frames.next()));
            assert!(frames.received.len() <= limit);
        }
        found
    }

    #[test]
    fn messages_do_not_depend_on_chunk_sizes_and_large_ones_are_discarded() {
        let large = [b'x'; 100];
        let stream = [b"{}\0\0{\"id\":1}\0".as_slice(), &large, b"\0{\"id\":2}\0half"].concat();
        let message = |text: &str| Frame::Message(text.as_bytes().into());
        let expected = [
            message("{}"),
            message(""),
            message("{\"id\":1}"),
            Frame::TooLarge([b'x'; HEAD].as_slice().into()),
            message("{\"id\":2}"),
        ];
        for chunk in 1..=stream.len() {
            assert_eq!(frames(&stream, chunk, 64), expected, "in pieces of {chunk}");
        }
    }
}
