//! What is under a point, and what has the keyboard focus.

use std::time::Duration;

use helmdeck_a11y::{Element, Scene, rect};
use helmdeck_browser::PageHit;
use helmdeck_wire::{
    aim::{Hit, Source},
    point::{Pixel, Rect},
};

use super::gather::{self, Extent, Gathered};
use crate::{begin::Guest, error::GuestError};

/// A page answers at once, unless it is busy.
const PAGE_DEADLINE: Duration = Duration::from_millis(800);

/// What is under a point, and whether it matches the selector that was asked about.
pub struct UnderPoint {
    pub hit: Hit,
    pub selected: Option<bool>,
}

impl Guest {
    /// What is under a point of the screen.
    pub async fn under(
        &self,
        point: Pixel,
        selector: Option<&str>,
    ) -> Result<UnderPoint, GuestError> {
        let stack = self.display()?.stack().await?;
        let scene = gather::scene(stack);
        let Some(top) = scene.surface_at(point).and_then(|at| scene.surfaces.get(at)) else {
            return Ok(UnderPoint { hit: Hit::default(), selected: None });
        };
        let window = top.window.clone();
        let mut gathered = Gathered { scene, ..Gathered::default() };
        if window.browser {
            let read = self.read_browser(Some(point), true).await;
            let places = gathered.add_programs(self, read, true);
            let place = places.into_iter().find(|(_, rect)| rect::contains(*rect, point));
            if let Some((surface, place)) = place
                && gathered.scene.surface_at(point) == Some(surface)
            {
                let inside = self.in_page(&window.name, place, point, selector).await;
                match inside {
                    Ok(Some((hit, selected))) => {
                        let window = Some(window.name);
                        return Ok(UnderPoint { hit: Hit { window, ..hit }, selected });
                    }
                    // A page of the browser itself.
                    _ => {
                        let read = self.read_browser(Some(point), false).await;
                        gathered.scene.elements.clear();
                        gathered.add_programs(self, read, true);
                    }
                }
            }
        } else {
            let read = self.read_programs(Some(point)).await;
            gathered.add_programs(self, read, false);
        }
        gathered.scene.reveal();
        let hit = match gathered.scene.at(point) {
            Some(element) => of(&gathered.scene, element),
            None => {
                let window = Some(window.name);
                Hit { window, source: Source::Window, ..Hit::default() }
            }
        };
        Ok(UnderPoint { hit, selected: None })
    }

    /// What is at a point of the page that is shown at this place.
    async fn in_page(
        &self,
        title: &str,
        place: Rect,
        point: Pixel,
        selector: Option<&str>,
    ) -> Result<Option<(Hit, Option<bool>)>, GuestError> {
        let browser = self.browser()?;
        let Some(tab) = browser.shown_tab(title, PAGE_DEADLINE).await? else { return Ok(None) };
        let at = (f64::from(point.x - place.x), f64::from(point.y - place.y));
        let hit = browser.element_at(&tab, at, selector, PAGE_DEADLINE).await?;
        Ok(hit.map(|hit| {
            let selected = hit.selected;
            (of_page(hit, Pixel { x: place.x, y: place.y }), selected)
        }))
    }

    /// What has the keyboard focus, if that is known.
    pub async fn focused(&self) -> Result<Option<Hit>, GuestError> {
        let gathered = gather::everything(self, Extent::Visible, None).await?;
        Ok(gathered.scene.focus().map(|element| of(&gathered.scene, element)))
    }
}

/// An element as it is reported.
pub fn of(scene: &Scene, element: &Element) -> Hit {
    let surface = element.surface.and_then(|at| scene.surfaces.get(at));
    Hit {
        window: surface.map(|surface| surface.window.name.clone()),
        role: element.role.clone(),
        name: element.name.trim().to_owned(),
        value: Some(element.value.clone()).filter(|value| !value.is_empty()),
        states: element.states.clone(),
        rect: element.shown().or(element.rect),
        url: surface.and_then(|surface| surface.window.url.clone()),
        source: element.source,
        ..Hit::default()
    }
}

/// An element of a page, whose viewport begins at `corner`.
pub fn of_page(hit: PageHit, corner: Pixel) -> Hit {
    let edge = |at: f64| at.round().clamp(-1e6, 1e6) as i32;
    let [x, y, width, height] = hit.rect;
    let (left, top) = (edge(x) + corner.x, edge(y) + corner.y);
    let (right, bottom) = (edge(x + width) + corner.x, edge(y + height) + corner.y);
    Hit {
        window: None,
        role: hit.role,
        name: hit.name,
        value: Some(hit.value).filter(|value| !value.is_empty()),
        states: hit.states,
        rect: rect::from_edges(left, top, right, bottom),
        element: Some(hit.tag),
        selector: Some(hit.selector),
        url: Some(hit.url),
        source: Source::Dom,
    }
}
