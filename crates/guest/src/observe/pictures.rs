//! Which picture tells what changed: none, a part, or everything.

use std::ops::RangeInclusive;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_display::{
    Display, DisplayError,
    observe::{Canvas, Changes, LatePrints, Prints, Rect, ShotFacts, Shots},
};
use helmdeck_wire::{
    observe::{Observation, Observe, ObservedPicture, ShotId},
    vendor_size::SizeRule,
};
use parking_lot::Mutex;

/// Pixels around a change that show where it is.
const MARGIN: i32 = 24;
/// The margins that are allowed if they cost fewer tokens.
const MARGINS: RangeInclusive<i32> = 8..=48;
/// A part is shown if it is at most this much of everything, in percent.
const PART: u64 = 70;

/// Whether an action only takes a picture: it waits first, and then looks.
pub fn is_picture(name: &str) -> bool {
    matches!(name, "screenshot" | "zoom" | "browser_screenshot")
}

/// Pictures of pages that observations took, in a session without a screen.
#[derive(Debug, Default)]
pub struct PageShots {
    shots: Shots,
    last: Mutex<u64>,
}

impl PageShots {
    /// The fingerprint of a picture of the whole page.
    pub fn prints(&self, id: &str) -> Option<Prints> {
        self.shots.prints(id)
    }

    fn remember(
        &self,
        canvas: &Canvas,
        part: &Rect,
        size: (u32, u32),
        prints: &Prints,
        sent: bool,
    ) -> ShotFacts {
        let mut last = self.last.lock();
        *last += 1;
        let facts = ShotFacts::of_part(format!("shot-{last}"), part, size);
        let whole = (*part == canvas.whole()).then(|| LatePrints::new(prints.clone().into()));
        self.shots.add(facts.clone(), whole, sent);
        facts
    }
}

/// What a picture is to show.
pub struct Shown<'a> {
    pub changes: &'a Changes,
    pub regions: &'a [Rect],
    /// The regions that must be in it.
    pub telling: &'a [Rect],
    /// What changes on its own.
    pub ignored: &'a [Rect],
    /// How large the picture may be.
    pub size: Option<SizeRule>,
}

impl Shown<'_> {
    /// Adds the picture and its id to an observation.
    pub fn add(
        &self,
        observe: Observe,
        display: Option<&Display>,
        pages: &PageShots,
        observation: &mut Observation,
    ) -> Result<(), DisplayError> {
        let canvas = &self.changes.after;
        let prints = Prints::of(canvas);
        let shots = display.map_or(&pages.shots, Display::shots);
        let wanted = match observe {
            Observe::None | Observe::Diff => None,
            Observe::Screenshot => Some(canvas.whole()),
            Observe::Auto => part(self.telling, canvas),
        };
        if self.regions.is_empty() {
            let same = shots.same_as(&prints, self.ignored);
            observation.unchanged_since = same.map(ShotId);
        }
        if wanted.is_none() && observation.unchanged_since.is_some() {
            return Ok(());
        }
        let rect = wanted.unwrap_or_else(|| canvas.whole());
        let size = (rect.width, rect.height);
        let size = self.size.map_or(size, |rule| rule.size(size.0, size.1));
        let facts = match display {
            Some(display) => display.remember(canvas, &rect, size, &prints, wanted.is_some()),
            None => pages.remember(canvas, &rect, size, &prints, wanted.is_some()),
        };
        observation.shot = Some(ShotId(facts.id.clone()));
        if wanted.is_some() {
            observation.picture = Some(ObservedPicture {
                id: ShotId(facts.id),
                media_type: "image/png".to_owned(),
                data: BASE64_STANDARD.encode(canvas.png_of(&rect, size.0, size.1)?),
                rect: rect.into(),
                scale: facts.scale,
            });
        }
        Ok(())
    }
}

/// The smallest part that shows all changes; everything if that is not much less. `None` if nothing
/// changed.
fn part(regions: &[Rect], canvas: &Canvas) -> Option<Rect> {
    let whole = canvas.whole();
    let around = regions.iter().copied().reduce(|one, other| one.union(&other))?;
    let within = |margin: i32| {
        let part = around.inflated(margin).intersection(&whole)?;
        Some((tokens(part.width, part.height), margin.abs_diff(MARGIN), part))
    };
    let (_, _, part) = MARGINS.filter_map(within).min_by_key(|(tokens, far, _)| (*tokens, *far))?;
    Some(if part.area() * 100 <= whole.area() * PART { part } else { whole })
}

/// What a picture costs with vendors that count tiles, Gemini 2 and OpenAI before GPT-5.2, together. With the others,
/// tokens grow with the area.
fn tokens(width: u32, height: u32) -> u32 {
    let short = width.min(height);
    let gemini = if width.max(height) <= 384 {
        1
    } else {
        let tile = (short * 2 / 3).clamp(256, 768);
        width.div_ceil(tile) * height.div_ceil(tile)
    };
    let scaled = |side: u32| (side * 768 / short.max(768)).div_ceil(512);
    258 * gemini + 170 * scaled(width) * scaled(height)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use helmdeck_wire::vendor_size::PictureLimits;

    use super::*;

    fn canvas(colour: u8) -> Arc<Canvas> {
        Arc::new(Canvas::from_rgba(200, 100, &[colour; 200 * 100 * 4]))
    }

    fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
        Rect { x, y, width, height }
    }

    fn observed(pages: &PageShots, observe: Observe, colour: u8, regions: &[Rect]) -> Observation {
        let (before, after) = (canvas(0), canvas(colour));
        let (periodic, left_out) = (vec![], vec![]);
        let changes = Changes { regions: regions.to_vec(), periodic, left_out, before, after };
        let (telling, ignored) = (regions, &[] as &[Rect]);
        let shown = Shown { changes: &changes, regions, telling, ignored, size: None };
        let mut observation = Observation::default();
        shown.add(observe, None, pages, &mut observation).unwrap();
        observation
    }

    #[test]
    fn a_small_change_is_shown_with_its_surroundings_and_a_large_one_with_everything() {
        let canvas = canvas(0);
        assert_eq!(part(&[rect(50, 50, 10, 10)], &canvas), Some(rect(26, 26, 58, 58)));
        assert_eq!(part(&[rect(0, 0, 5, 5)], &canvas), Some(rect(0, 0, 29, 29)));
        assert_eq!(part(&[rect(0, 0, 5, 5), rect(150, 90, 5, 5)], &canvas), Some(canvas.whole()));
        assert_eq!(part(&[], &canvas), None);
    }

    #[test]
    fn a_margin_is_the_one_that_costs_the_fewest_tiles() {
        let canvas = Canvas::from_rgba(1920, 1080, &vec![0; 1920 * 1080 * 4]);
        let shown = |width, height| {
            let part = part(&[rect(100, 100, width, height)], &canvas).unwrap();
            (part.width, part.height)
        };
        assert_eq!(shown(300, 30), (348, 78));
        assert_eq!(shown(360, 30), (384, 54));
        assert_eq!(shown(480, 100), (512, 132));
        assert_eq!(shown(484, 340), (512, 368));
        assert_eq!(shown(600, 340), (648, 388));
        assert_eq!(shown(620, 450), (680, 510));
        assert_eq!(shown(1160, 960), (1208, 1004));
        assert_eq!(shown(1700, 960), (1920, 1080));
    }

    #[test]
    fn nothing_is_sent_if_an_earlier_picture_shows_the_same() {
        let pages = PageShots::default();
        let first = observed(&pages, Observe::Screenshot, 1, &[rect(0, 0, 200, 100)]);
        let sent = first.picture.unwrap();
        assert_eq!((sent.id.0.as_str(), sent.rect.width), ("shot-1", 200));
        let again = observed(&pages, Observe::Auto, 1, &[]);
        assert_eq!((again.picture, again.shot), (None, None));
        assert_eq!(again.unchanged_since, Some(ShotId("shot-1".into())));
        let part = observed(&pages, Observe::Auto, 2, &[rect(50, 50, 10, 10)]);
        assert_eq!(part.unchanged_since, None);
        let picture = part.picture.unwrap();
        assert_eq!((picture.rect.x, picture.rect.width), (26, 58));
        let png = BASE64_STANDARD.decode(picture.data).unwrap();
        assert_eq!(Canvas::from_png(&png).unwrap().size(), (58, 58));
        let facts = pages.shots.get(&picture.id.0).unwrap();
        assert_eq!(facts.on_screen(10, 10), Some((36, 36)));
    }

    #[test]
    fn a_picture_is_as_large_as_the_model_sees_it_and_its_points_are_found_on_the_screen() {
        let (before, after) = (canvas(0), canvas(1));
        let regions = [before.whole()];
        let (periodic, left_out) = (vec![], vec![]);
        let changes = Changes { regions: regions.to_vec(), periodic, left_out, before, after };
        let limits = PictureLimits { max_edge: Some(100), max_pixels: None };
        let size = Some(SizeRule::Limits(limits));
        let (changes, regions) = (&changes, &regions[..]);
        let shown = Shown { changes, regions, telling: regions, ignored: &[], size };
        let (pages, mut observation) = (PageShots::default(), Observation::default());
        shown.add(Observe::Screenshot, None, &pages, &mut observation).unwrap();
        let picture = observation.picture.unwrap();
        assert_eq!((picture.rect.width, picture.scale), (200, 0.5));
        let png = BASE64_STANDARD.decode(picture.data).unwrap();
        assert_eq!(Canvas::from_png(&png).unwrap().size(), (100, 50));
        let facts = pages.shots.get(&picture.id.0).unwrap();
        assert_eq!(facts.on_screen(50, 25), Some((101, 51)));
        assert_eq!(facts.on_screen(100, 25), None, "outside of the picture");
    }

    #[test]
    fn a_comparison_without_a_picture_names_the_state() {
        let pages = PageShots::default();
        let diff = observed(&pages, Observe::Diff, 3, &[rect(1, 1, 1, 1)]);
        assert_eq!((diff.shot, diff.picture), (Some(ShotId("shot-1".into())), None));
    }
}
