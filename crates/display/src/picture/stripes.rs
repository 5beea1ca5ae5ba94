//! Stripes: rows of a picture that are encoded together, several at a time. A stripe that looks the
//! same in the next picture is not encoded again.

use std::{
    ops::Range,
    sync::{Arc, LazyLock, OnceLock},
    thread,
};

use parking_lot::Mutex;

use super::{jpeg::JpegPart, png::PngPart};

/// Rows of a stripe; the last one may have fewer. JPEG needs a multiple of 16.
pub(crate) const ROWS: u32 = 64;
/// A picture does not take more of the machine than this.
const MAX_THREADS: usize = 4;
/// Starting a thread takes as long as encoding about half a stripe.
const STRIPES_FOR_A_THREAD: usize = 2;

/// The encoded forms of one stripe, as far as they are made.
#[derive(Debug, Default)]
pub(super) struct Stripe {
    pub(super) png: OnceLock<PngPart>,
    /// With the first quality that was asked for.
    pub(super) jpeg: OnceLock<JpegPart>,
}

/// All stripes of a picture, from the top.
#[derive(Debug)]
pub(crate) struct Stripes(pub(super) Vec<Arc<Stripe>>);

impl Stripes {
    /// The stripes of a picture of this height, none of which is encoded.
    pub(crate) fn new(height: u32) -> Self {
        Self((0..height.div_ceil(ROWS)).map(|_| Arc::default()).collect())
    }

    /// The stripes of a later picture of the same size, of which `changed` look different.
    pub(crate) fn after(&self, changed: impl Fn(u32) -> bool) -> Self {
        let stripes = (0..).zip(&self.0);
        Self(
            stripes
                .map(|(nth, old)| if changed(nth) { Arc::default() } else { old.clone() })
                .collect(),
        )
    }
}

impl Stripes {
    /// The numbers of stripes that are not made yet.
    pub(super) fn missing(&self, is_made: impl Fn(&Stripe) -> bool) -> Vec<usize> {
        let stripes = self.0.iter().enumerate();
        stripes.filter(|(_, stripe)| !is_made(stripe)).map(|(nth, _)| nth).collect()
    }
}

/// The rows of a stripe.
pub(super) fn rows(nth: usize, height: u32) -> Range<u32> {
    let first = u32::try_from(nth).unwrap_or(u32::MAX).saturating_mul(ROWS).min(height);
    first..first.saturating_add(ROWS).min(height)
}

/// The number of threads that work on so many stripes.
pub(super) fn threads(stripes: usize) -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS));
    (*CORES).min(stripes.div_ceil(STRIPES_FOR_A_THREAD)).max(1)
}

/// Calls `work` with every item, on up to `threads` threads. The results are in order.
pub(super) fn in_parallel<I, T>(
    threads: usize,
    items: Vec<I>,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T>
where
    I: Send,
    T: Send,
{
    if threads < 2 || items.len() < 2 {
        return items.into_iter().map(work).collect();
    }
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let items = Mutex::new(items.into_iter().enumerate());
    let run = || {
        loop {
            // A separate statement: the lock is not held during the work.
            let item = items.lock().next();
            let Some((nth, item)) = item else { return };
            let result = work(item);
            results.lock().push((nth, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without a thread, this one does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let mut results = results.into_inner();
    results.sort_unstable_by_key(|(nth, _)| *nth);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whatever_thread_made_them() {
        for count in [0_usize, 1, 2, 3, 17, 100] {
            let squares = in_parallel(3, (0..count).collect(), |nth| nth * nth);
            assert_eq!(squares, (0..count).map(|nth| nth * nth).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_last_stripe_has_the_remaining_rows() {
        assert_eq!(Stripes::new(130).0.len(), 3);
        assert_eq!((rows(0, 130), rows(2, 130), rows(0, 10)), (0..64, 128..130, 0..10));
    }
}
