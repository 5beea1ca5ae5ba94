//! One picture of the screen, encoded once for all who want it the same way.

use std::{fmt, time::Instant};

use bytes::Bytes;
use parking_lot::Mutex;

use super::Frame;
use crate::{
    error::DisplayError,
    picture::{Pixels, narrow},
};

pub(super) struct Shot {
    pub(super) sequence: u64,
    pub(super) taken: Instant,
    pixels: Pixels,
    /// Made so far: width and quality, and the bytes. As many as there are kinds of subscribers.
    made: Mutex<Vec<((u32, u8), Bytes)>>,
}

impl Shot {
    pub(super) fn new(sequence: u64, pixels: Pixels) -> Self {
        Self { sequence, taken: Instant::now(), pixels, made: Mutex::default() }
    }

    pub(super) fn frame(&self, max_width: u32, quality: u8) -> Result<Frame, DisplayError> {
        let (width, height, _) = narrow(self.pixels.width, self.pixels.height, max_width);
        let look = (width, quality.clamp(1, 100));
        // Held while encoding, so that whoever wants the same waits for it and has it for free.
        let mut made = self.made.lock();
        let jpeg = match made.iter().find(|(known, _)| *known == look) {
            Some((_, jpeg)) => jpeg.clone(),
            None => {
                let jpeg = Bytes::from(self.pixels.scaled(width, height)?.jpeg(look.1)?);
                made.push((look, jpeg.clone()));
                jpeg
            }
        };
        Ok(Frame { sequence: self.sequence, width, height, jpeg })
    }
}

impl fmt::Debug for Shot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the pixels.
        f.debug_struct("Shot").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}
