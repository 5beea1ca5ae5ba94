//! The last picture of a session.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_wire::guest::PictureRequest;
use tokio::time::timeout;

use crate::Session;

/// Large enough to recognise the screen, small enough to keep for a thousand sessions.
const SMALL: PictureRequest = PictureRequest { width: 800, fps: 1.0, quality: 60 };
/// Larger pictures are not kept.
const MAX_BYTES: usize = 256 << 10;
/// How long the end of a session waits for a picture.
const DEADLINE: Duration = Duration::from_secs(1);

impl Session {
    /// Takes a picture of the screen or page while the guest still runs.
    pub(crate) async fn take_last_picture(&self) -> Option<Bytes> {
        let first = async {
            let mut frames = self.inner.link.frames(SMALL).await.ok()?;
            frames.next().await.ok()?
        };
        let picture = timeout(DEADLINE, first).await.ok()??;
        (picture.len() <= MAX_BYTES).then_some(picture)
    }
}
