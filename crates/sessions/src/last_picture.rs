//! How a session looked at its end.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_wire::guest::Frames;
use tokio::time::timeout;

use crate::Session;

/// Large enough to recognise what is on the screen, small enough to keep for a thousand sessions.
const SMALL: Frames = Frames { width: 800, fps: 1.0, quality: 60 };
/// A larger picture is not kept.
const MAX_BYTES: usize = 256 << 10;
/// The end of a session does not wait longer for a screen that shows nothing.
const DEADLINE: Duration = Duration::from_secs(1);

impl Session {
    /// A picture of its screen or page, while its guest is still there.
    pub(crate) async fn take_last_picture(&self) -> Option<Bytes> {
        let first = async {
            let mut frames = self.inner.link.frames(SMALL).await.ok()?;
            frames.next().await.ok()?
        };
        let picture = timeout(DEADLINE, first).await.ok()??;
        (picture.len() <= MAX_BYTES).then_some(picture)
    }
}
