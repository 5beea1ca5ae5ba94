//! Places that change by themselves, and pictures of pages, in the types of the others.

use std::sync::Arc;

use helmdeck_browser::PageWatch;
use helmdeck_display::observe::{Canvas, Kind, Periodic, Rect};
use helmdeck_task::block_in_place;
use helmdeck_wire::observe::{PeriodicKind, PeriodicRegion};

use super::effect;

/// The periodic places that a page knows.
pub fn periodic_on(page: &PageWatch) -> Vec<Periodic> {
    let periodic = page.periodic();
    let given = periodic.iter().map(|place| Periodic {
        rect: effect::rect(&place.area),
        period: place.period,
        kind: match place.kind {
            helmdeck_browser::PeriodicKind::Spinner => Kind::Spinner,
            helmdeck_browser::PeriodicKind::Animation => Kind::Animation,
            helmdeck_browser::PeriodicKind::Video => Kind::Video,
            helmdeck_browser::PeriodicKind::Clock => Kind::Clock,
        },
    });
    given.collect()
}

/// Where text cursors are.
pub fn carets(periodic: &[Periodic]) -> impl Iterator<Item = Rect> {
    periodic.iter().filter(|place| place.kind == Kind::Caret).map(|place| place.rect)
}

/// A picture of the page; `None` if there is none.
pub async fn canvas_of(page: &PageWatch) -> Option<Arc<Canvas>> {
    let png = page.picture().await?;
    block_in_place(|| Canvas::from_png(&png)).ok().map(Arc::new)
}

/// A place as it is reported.
pub fn periodic(place: &Periodic) -> PeriodicRegion {
    PeriodicRegion {
        rect: place.rect.into(),
        period_ms: u32::try_from(place.period.as_millis()).unwrap_or(u32::MAX),
        kind: match place.kind {
            Kind::Caret => PeriodicKind::Caret,
            Kind::Spinner => PeriodicKind::Spinner,
            Kind::Clock => PeriodicKind::Clock,
            Kind::Video => PeriodicKind::Video,
            Kind::Animation => PeriodicKind::Animation,
        },
    }
}
