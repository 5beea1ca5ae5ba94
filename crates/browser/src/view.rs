//! Where the browser's view of a page is: on the page, and on the screen.

use serde::Deserialize;

use crate::{hit_test::Spot, page_action::PageAction, world::Told};

/// The view of a page.
#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct View {
    /// The part of the page that is scrolled out, to the left and above.
    scrolled: Spot,
    /// The upper left corner on the screen, if there is one.
    corner: Option<Spot>,
    /// Pixels of the screen for one of the page.
    scale: f64,
}

impl View {
    pub fn on_page(&self, at: Spot) -> Spot {
        Spot { x: at.x + self.scrolled.x, y: at.y + self.scrolled.y }
    }

    pub fn on_screen(&self, at: Spot) -> Option<Spot> {
        let Spot { x, y } = self.corner?;
        Some(Spot { x: x + at.x * self.scale, y: y + at.y * self.scale })
    }
}

impl PageAction {
    /// The view as it is now. A page that cannot be asked is taken for one that is not scrolled.
    pub async fn view(&self) -> View {
        let Ok(main) = self.page.main() else { return View::default() };
        let told = self.page.run::<View>(&main, "view", (), self.deadline).await;
        let view = match told {
            Ok(Told::Value(view)) => view,
            Ok(Told::Left) | Err(_) => return View::default(),
        };
        View { corner: view.corner.filter(|_| self.on_screen), ..view }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_view_has_one_on_the_page_and_one_on_the_screen() {
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
