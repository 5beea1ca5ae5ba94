//! One picture of the screen, encoded once for each kind of request.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Instant,
};

use bytes::Bytes;
use helmdeck_task::block_in_place;
use parking_lot::Mutex;

use super::{Frame, source::Captured};
use crate::{
    error::DisplayError,
    observe::{LatePrints, Prints},
    picture::{Coding, Cursor, Pixels, narrow, stripes::Stripes},
    segment::Region,
};

/// Limit on cached encodings of one picture.
const MAX_KEPT: usize = 8;

/// The requested part of a picture and its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) region: Region,
    /// The requested size.
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) coding: Coding,
    /// Whether the pointer is drawn.
    pub(crate) pointer: bool,
}

impl Look {
    /// Whether this is a whole picture as it is.
    fn is_all_of(self, pixels: &Pixels) -> bool {
        let region = (u32::from(self.region.width), u32::from(self.region.height));
        let size = (pixels.width, pixels.height);
        (region, (self.width, self.height)) == (size, size)
    }
}

pub(crate) struct Shot {
    pub(crate) sequence: u64,
    pub(super) taken: Instant,
    pixels: Pixels,
    /// Those that look as in the shot before keep their encoded forms.
    stripes: Stripes,
    pointer: Option<Cursor>,
    made: Mutex<Vec<(Look, Slot)>>,
    prints: OnceLock<LatePrints>,
}

/// Locked while encoding: identical requests wait for it and share the result.
type Slot = Arc<Mutex<Option<Bytes>>>;

impl Shot {
    /// The shot after `before`, if there was one.
    pub(super) fn new(sequence: u64, captured: Captured, before: Option<&Self>) -> Self {
        let Captured { pixels, pointer, drawn } = captured;
        let stripes = before.filter(|before| before.is_sized(&pixels)).map_or_else(
            || Stripes::new(pixels.height),
            |before| before.stripes.after(|nth| drawn.has(nth)),
        );
        let (taken, made, prints) = (Instant::now(), Mutex::default(), OnceLock::new());
        Self { sequence, taken, pixels, stripes, pointer, made, prints }
    }

    /// Its fingerprint, which is computed once and in the background.
    pub(crate) fn prints(this: &Arc<Self>) -> LatePrints {
        let prints = this.prints.get_or_init(|| {
            let (shot, prints) = (this.clone(), LatePrints::default());
            let late = prints.clone();
            helmdeck_task::spawn(async move {
                block_in_place(|| late.get_or_init(|| Prints::of_pixels(&shot.pixels)));
            });
            prints
        });
        prints.clone()
    }

    fn is_sized(&self, pixels: &Pixels) -> bool {
        (self.pixels.width, self.pixels.height) == (pixels.width, pixels.height)
    }

    /// The screen without the pointer.
    pub(crate) fn pixels(&self) -> &Pixels {
        &self.pixels
    }

    /// The whole screen as a region.
    pub(crate) fn whole(&self) -> Region {
        // Screen sizes come from X, which has no larger ones.
        let side = |length: u32| u16::try_from(length).unwrap_or(u16::MAX);
        Region { x: 0, y: 0, width: side(self.pixels.width), height: side(self.pixels.height) }
    }

    /// The picture in the requested encoding.
    pub(crate) fn encoded(&self, look: Look) -> Result<Bytes, DisplayError> {
        let slot = self.slot(look);
        let mut made = slot.lock();
        if let Some(bytes) = &*made {
            return Ok(bytes.clone());
        }
        let bytes = match self.pointer.as_ref().filter(|_| look.pointer) {
            Some(pointer) => {
                let mut pixels = self.pixels.clone();
                pixels.draw(pointer);
                encode(&pixels, look)?
            }
            None if look.is_all_of(&self.pixels) => {
                self.pixels.encoded(look.coding, &self.stripes)?.into()
            }
            None => encode(&self.pixels, look)?,
        };
        Ok(made.insert(bytes).clone())
    }

    fn slot(&self, look: Look) -> Slot {
        let mut made = self.made.lock();
        if let Some((_, slot)) = made.iter().find(|(known, _)| *known == look) {
            return slot.clone();
        }
        if made.len() == MAX_KEPT {
            made.remove(0);
        }
        let slot = Slot::default();
        made.push((look, slot.clone()));
        slot
    }

    pub(super) fn frame(&self, max_width: u32, quality: u8) -> Result<Frame, DisplayError> {
        let (width, height, _) = narrow(self.pixels.width, self.pixels.height, max_width);
        let coding = Coding::Jpeg(quality.clamp(1, 100));
        let look = Look { region: self.whole(), width, height, coding, pointer: true };
        Ok(Frame { sequence: self.sequence, width, height, jpeg: self.encoded(look)? })
    }
}

/// Crops, scales and encodes.
pub(crate) fn encode(pixels: &Pixels, look: Look) -> Result<Bytes, DisplayError> {
    let pixels = pixels.scaled(look.region, look.width, look.height)?;
    Ok(pixels.encoded(look.coding, &Stripes::new(pixels.height))?.into())
}

impl fmt::Debug for Shot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omits the pixels.
        f.debug_struct("Shot").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}
