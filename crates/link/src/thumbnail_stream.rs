//! A stream of thumbnails of a session.

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncReadExt;

use crate::{ByteStream, LinkError};

/// Limit on a picture. A guest that sends more is broken or hostile.
const MAX_FRAME: usize = 8 << 20;
const LENGTH: usize = 4;

/// A stream of pictures. It ends with the screen.
pub struct FrameStream {
    stream: Box<dyn ByteStream>,
    received: BytesMut,
}

impl FrameStream {
    pub(crate) fn new(stream: Box<dyn ByteStream>) -> Self {
        Self { stream, received: BytesMut::new() }
    }

    /// The next picture, a JPEG; `None` when the screen is gone. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<Bytes>, LinkError> {
        loop {
            if let Some(length) = self.received.first_chunk::<LENGTH>() {
                let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
                if length > MAX_FRAME {
                    return Err(LinkError::Nonsense(format!("a picture of {length} bytes")));
                }
                if self.received.len() >= LENGTH + length {
                    return Ok(Some(
                        self.received.split_to(LENGTH + length).split_off(LENGTH).freeze(),
                    ));
                }
            }
            match self.stream.read_buf(&mut self.received).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => return Ok(None),
            }
        }
    }
}
