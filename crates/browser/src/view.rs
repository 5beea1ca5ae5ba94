//! The position of the viewport on the page and on the screen.

use serde::Deserialize;

use crate::{hit_test::Spot, page_action::PageAction, world::Outcome};

/// The viewport of a page.
#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct View {
    /// How far the page is scrolled, horizontally and vertically.
    scrolled: Spot,
    /// The upper left corner on the screen, if the page is on one.
    corner: Option<Spot>,
    /// Screen pixels per page pixel.
    scale: f64,
}

impl View {
    pub fn on_page(&self, at: Spot) -> Spot {
        Spot { x: at.x + self.scrolled.x, y: at.y + self.scrolled.y }
    }

    /// A point in pixels of the viewport.
    pub fn scaled(&self, at: Spot) -> Spot {
        Spot { x: at.x * self.scale, y: at.y * self.scale }
    }

    pub fn on_screen(&self, at: Spot) -> Option<Spot> {
        let Spot { x, y } = self.corner?;
        Some(Spot { x: x + at.x * self.scale, y: y + at.y * self.scale })
    }
}

impl View {
    /// Screen pixels per page pixel; 1 if it is unknown.
    pub fn scale(&self) -> f64 {
        if self.scale > 0.0 { self.scale } else { 1.0 }
    }

    /// The upper left corner on the screen, as the page sees it.
    pub fn corner(&self) -> Option<(f64, f64)> {
        self.corner.map(|Spot { x, y }| (x, y))
    }
}

impl PageAction {
    /// The current viewport. A page that does not answer counts as not scrolled.
    pub async fn view(&self) -> View {
        let Ok(main) = self.page.main() else { return View::default() };
        let told = self.page.run::<View>(&main, "view", (), self.deadline).await;
        let view = match told {
            Ok(Outcome::Value(view)) => view,
            Ok(Outcome::Left) | Err(_) => return View::default(),
        };
        View { corner: view.corner.filter(|_| self.on_screen), ..view }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewport_points_map_to_the_page_and_the_screen() {
        let view = View {
            scrolled: Spot { x: 0.0, y: 500.0 },
            corner: Some(Spot { x: 10.0, y: 90.0 }),
            scale: 2.0,
        };
        let at = Spot { x: 100.0, y: 20.0 };
        assert_eq!(view.on_page(at), Spot { x: 100.0, y: 520.0 });
        assert_eq!(view.on_screen(at), Some(Spot { x: 210.0, y: 130.0 }));
        assert_eq!(View::default().on_screen(at), None);
    }
}
