//! The messages of [`crate::route::CAST`]: a big-endian length of four bytes, a type byte, and the
//! content.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use helmdeck_wire::cast::{CastMessage, CastRequest};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Limit on a message. A peer that sends more is broken or hostile.
const MAX_MESSAGE: usize = 16 << 20;
const HEAD: usize = 5;
const PICTURE: u8 = 0;
const WORDS: u8 = 1;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A whole JPEG.
    Picture(Bytes),
    /// JSON: down, a [`CastMessage`]; up, an [`CastRequest`].
    Words(Bytes),
}

impl Message {
    /// A request to the guest. Our own types can always be serialized.
    pub fn asking(asked: &CastRequest) -> Self {
        Self::Words(serde_json::to_vec(asked).unwrap_or_default().into())
    }

    /// A message of the guest.
    pub fn telling(told: &CastMessage) -> Self {
        Self::Words(serde_json::to_vec(told).unwrap_or_default().into())
    }

    /// The request in this message, if it is one.
    pub fn request(&self) -> Option<CastRequest> {
        match self {
            Self::Words(words) => serde_json::from_slice(words).ok(),
            Self::Picture(_) => None,
        }
    }
}

/// Sends one message.
pub async fn send(to: &mut (impl AsyncWrite + Unpin), message: &Message) -> std::io::Result<()> {
    let (kind, body) = match message {
        Message::Picture(jpeg) => (PICTURE, jpeg),
        Message::Words(words) => (WORDS, words),
    };
    let mut head = BytesMut::with_capacity(HEAD);
    head.put_u32(u32::try_from(body.len()).unwrap_or(u32::MAX));
    head.put_u8(kind);
    // Both in one write where the system supports it.
    to.write_all_buf(&mut head.freeze().chain(body.clone())).await
}

/// Reads messages in order.
pub struct Receiver<R> {
    from: R,
    received: BytesMut,
}

impl<R: AsyncRead + Unpin> Receiver<R> {
    /// Reads from this stream.
    pub fn new(from: R) -> Self {
        Self { from, received: BytesMut::new() }
    }

    /// The next message; `None` when the other side is gone or sends invalid data. Cancel-safe.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some([a, b, c, d, kind]) = self.received.first_chunk::<HEAD>().copied() {
                let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
                if length > MAX_MESSAGE {
                    return None;
                }
                if self.received.len() >= HEAD + length {
                    let body = self.received.split_to(HEAD + length).split_off(HEAD).freeze();
                    return match kind {
                        PICTURE => Some(Message::Picture(body)),
                        WORDS => Some(Message::Words(body)),
                        _ => None,
                    };
                }
            }
            match self.from.read_buf(&mut self.received).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_arrive_unchanged_and_invalid_data_ends_the_stream() {
        let (mut ours, theirs) = tokio::io::duplex(7);
        let mut receiver = Receiver::new(theirs);
        let messages = [
            Message::Picture(Bytes::from(vec![7; 100])),
            Message::asking(&CastRequest::ReleaseAll),
            Message::Words(Bytes::new()),
        ];
        let sending = async {
            for message in &messages {
                send(&mut ours, message).await.unwrap();
            }
            ours.write_all(&[0xff; HEAD]).await.unwrap();
        };
        let receiving = async {
            for message in &messages {
                assert_eq!(receiver.next().await.as_ref(), Some(message));
            }
            assert_eq!(receiver.next().await, None);
        };
        tokio::join!(sending, receiving);
        assert_eq!(messages[1].request(), Some(CastRequest::ReleaseAll));
    }
}
