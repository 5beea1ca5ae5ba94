//! Thumbnails of the session, sent when it changes.

use bytes::Bytes;
use helmdeck_browser::ThumbnailCast;
use helmdeck_display::FrameRequest;
use helmdeck_wire::{
    cast::{CastView, Quality, Side, Whole},
    guest::PictureRequest,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{begin::Guest, error::GuestError};

/// The source of the thumbnails.
pub enum Pictures {
    Screen(helmdeck_display::FrameSubscription),
    Page(Box<ThumbnailCast>),
}

impl Guest {
    /// Pictures of the screen; without a screen, of the browser's page.
    pub async fn pictures(&self, wanted: PictureRequest) -> Result<Pictures, GuestError> {
        let PictureRequest { width, fps, quality } = wanted;
        if let Some(display) = self.screen()? {
            let request = FrameRequest { max_width: width, max_fps: fps, quality };
            return Ok(Pictures::Screen(display.subscribe(request).await?));
        }
        let side = Side::nearest(width);
        let view = CastView {
            tab: None,
            quality: Quality::nearest(quality.into()),
            max_width: side,
            max_height: side,
            max_fps: Whole::nearest(fps as u32),
            ack: false,
        };
        Ok(Pictures::Page(Box::new(self.browser()?.cast_thumbnails(view))))
    }
}

impl Pictures {
    /// The next JPEG; `None` when the screen is gone. For a browser that ended, waits for the next.
    async fn next(&mut self) -> Option<Bytes> {
        match self {
            Self::Screen(frames) => frames.next().await.ok().map(|frame| frame.jpeg),
            Self::Page(glance) => Some(glance.next().await),
        }
    }
}

/// Sends pictures until the other side disconnects or the screen is gone. A slow receiver misses
/// some.
pub async fn send(mut pictures: Pictures, stream: impl AsyncRead + AsyncWrite) {
    let (mut from_server, mut to_server) = tokio::io::split(stream);
    let sending = async {
        while let Some(jpeg) = pictures.next().await {
            let length = u32::try_from(jpeg.len()).unwrap_or(u32::MAX);
            if to_server.write_u32(length).await.is_err()
                || to_server.write_all(&jpeg).await.is_err()
            {
                return;
            }
        }
    };
    tokio::select! {
        () = sending => {}
        // The server sends nothing; this detects its end even while the picture is unchanged.
        _ = from_server.read_u8() => {}
    }
}
