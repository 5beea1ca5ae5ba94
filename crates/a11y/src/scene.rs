//! What is on the screen: windows by their stacking, and the elements in them.

use helmdeck_wire::{
    aim::Source,
    point::{Pixel, Rect},
    tree::TreeWindow,
};

use crate::{rect, role};

/// A window as it lies on the screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    /// Its description.
    pub window: TreeWindow,
    /// What it covers: the window with its frame.
    pub frame: Rect,
    /// Whether it is listed. The panel covers others, but is not.
    pub listed: bool,
}

/// An element of a program or page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Element {
    /// Its ref.
    pub reference: String,
    /// The index of the element that contains it.
    pub parent: Option<usize>,
    /// The index of the window that shows it; without one, it is not on the screen.
    pub surface: Option<usize>,
    /// Its role, as web pages name it.
    pub role: String,
    /// Its name.
    pub name: String,
    /// Its text or value.
    pub value: String,
    /// Its states.
    pub states: Vec<String>,
    /// Its place on the screen, which may be covered or scrolled away.
    pub rect: Option<Rect>,
    /// Whether it hides what its descendants have outside of it.
    pub clips: bool,
    /// Whether its program says that it is covered or scrolled out of view.
    pub veiled: bool,
    /// Where it comes from.
    pub source: Source,
    /// The parts of the screen where it is visible; set by [`Scene::reveal`].
    pub parts: Vec<Rect>,
}

impl Element {
    /// Whether it has a state.
    pub fn is(&self, state: &str) -> bool {
        self.states.iter().any(|known| known == state)
    }

    /// The smallest rectangle around its visible parts.
    pub fn shown(&self) -> Option<Rect> {
        let left = self.parts.iter().map(|part| part.x).min()?;
        let top = self.parts.iter().map(|part| part.y).min()?;
        let right = self.parts.iter().map(|part| rect::right(*part)).max()?;
        let bottom = self.parts.iter().map(|part| rect::bottom(*part)).max()?;
        rect::from_edges(left, top, right, bottom)
    }

    /// The point to act at.
    pub fn point(&self) -> Option<Pixel> {
        rect::point_in(self.shown()?, &self.parts)
    }
}

/// Everything on the screen.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The whole screen.
    pub screen: Rect,
    /// Windows, topmost first.
    pub surfaces: Vec<Surface>,
    /// Elements, parents before children.
    pub elements: Vec<Element>,
}

impl Scene {
    /// The index of the topmost window at a point.
    pub fn surface_at(&self, point: Pixel) -> Option<usize> {
        self.surfaces.iter().position(|surface| rect::contains(surface.frame, point))
    }

    /// Finds out which parts of windows and elements are visible.
    pub fn reveal(&mut self) {
        let mut covers = Vec::with_capacity(self.surfaces.len());
        // What windows above each window cover.
        let mut above = Vec::with_capacity(self.surfaces.len());
        for surface in &mut self.surfaces {
            let on_screen = rect::intersection(surface.frame, self.screen);
            let visible =
                on_screen.is_some_and(|on_screen| !rect::uncovered(on_screen, &covers).is_empty());
            surface.window.covered = !visible;
            above.push(covers.clone());
            covers.push(surface.frame);
        }
        let mut clips: Vec<Rect> = Vec::with_capacity(self.elements.len());
        for element in &mut self.elements {
            let inherited = element.parent.and_then(|parent| clips.get(parent)).copied();
            let surface = element.surface.and_then(|at| self.surfaces.get(at));
            let place =
                surface.and_then(|surface| rect::intersection(surface.window.rect, self.screen));
            let clip = match (place, inherited) {
                (Some(place), Some(inherited)) => rect::intersection(place, inherited),
                (Some(place), None) => Some(place),
                (None, _) => None,
            };
            let visible =
                clip.zip(element.rect).and_then(|(clip, own)| rect::intersection(clip, own));
            let above = element.surface.and_then(|at| above.get(at));
            element.parts = match (visible, above) {
                (Some(visible), Some(above)) if !element.veiled => rect::uncovered(visible, above),
                _ => Vec::new(),
            };
            clips.push(match element.rect {
                Some(own) if element.clips => {
                    rect::intersection(own, inherited.unwrap_or(own)).unwrap_or_default()
                }
                _ => inherited.unwrap_or(self.screen),
            });
        }
    }

    /// The indices of all elements, window by window from the top, in the order of a reader.
    pub fn order(&self) -> Vec<usize> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.elements.len()];
        let mut roots = Vec::new();
        for (at, element) in self.elements.iter().enumerate() {
            match element.parent.and_then(|parent| children.get_mut(parent)) {
                Some(list) => list.push(at),
                None => roots.push(at),
            }
        }
        let mut order = Vec::with_capacity(self.elements.len());
        let mut left: Vec<usize> = roots.into_iter().rev().collect();
        while let Some(at) = left.pop() {
            order.push(at);
            left.extend(children.get(at).into_iter().flatten().rev());
        }
        order
            .sort_by_key(|at| self.elements.get(*at).and_then(|e| e.surface).unwrap_or(usize::MAX));
        order
    }

    /// The innermost visible element at a point that says something about it.
    pub fn at(&self, point: Pixel) -> Option<&Element> {
        let top = self.surface_at(point);
        let here = |element: &&Element| {
            element.surface == top && element.parts.iter().any(|part| rect::contains(*part, point))
        };
        let size = |element: &&Element| element.shown().map(rect::area);
        let said = |element: &&Element| {
            !role::is_container(&element.role) || !element.name.trim().is_empty()
        };
        // Later elements are drawn above earlier ones; smaller ones are more exact.
        self.elements.iter().rev().filter(here).filter(said).min_by_key(size)
    }

    /// The element with the keyboard focus: the innermost one in the focused window.
    pub fn focus(&self) -> Option<&Element> {
        let focused = |at: usize| {
            self.surfaces
                .get(at)
                .is_some_and(|surface| surface.window.focused || surface.window.popup)
        };
        let has =
            |element: &&Element| element.is("focused") && element.surface.is_some_and(focused);
        self.elements.iter().rfind(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn area(x: i32, y: i32, width: u32, height: u32) -> Rect {
        Rect { x, y, width, height }
    }

    fn window(id: &str, frame: Rect) -> Surface {
        let window = TreeWindow { id: id.to_owned(), rect: frame, ..TreeWindow::default() };
        Surface { window, frame, listed: true }
    }

    fn element(name: &str, surface: usize, rect: Rect) -> Element {
        Element {
            reference: name.to_owned(),
            role: "button".to_owned(),
            name: name.to_owned(),
            surface: Some(surface),
            rect: Some(rect),
            ..Element::default()
        }
    }

    fn scene() -> Scene {
        Scene {
            screen: area(0, 0, 1000, 800),
            surfaces: vec![
                window("front", area(0, 0, 500, 800)),
                window("back", area(100, 0, 800, 800)),
                window("hidden", area(120, 10, 100, 100)),
            ],
            elements: vec![
                element("covered", 1, area(200, 100, 100, 20)),
                element("half", 1, area(450, 100, 100, 20)),
                element("free", 1, area(700, 100, 100, 20)),
                element("front", 0, area(10, 10, 100, 20)),
                element("outside", 0, area(600, 10, 100, 20)),
            ],
        }
    }

    #[test]
    fn what_another_window_covers_is_not_visible() {
        let mut scene = scene();
        scene.reveal();
        let shown: Vec<_> = scene.elements.iter().map(|e| (e.name.as_str(), e.shown())).collect();
        assert_eq!(
            shown,
            [
                ("covered", None),
                ("half", Some(area(500, 100, 50, 20))),
                ("free", Some(area(700, 100, 100, 20))),
                ("front", Some(area(10, 10, 100, 20))),
                ("outside", None),
            ]
        );
        let covered: Vec<_> = scene.surfaces.iter().map(|s| s.window.covered).collect();
        assert_eq!(covered, [false, false, true]);
        assert_eq!(scene.elements[1].point(), Some(Pixel { x: 525, y: 110 }));
        let names: Vec<_> =
            scene.order().iter().map(|at| scene.elements[*at].name.clone()).collect();
        assert_eq!(names, ["front", "outside", "covered", "half", "free"]);
    }

    #[test]
    fn what_is_scrolled_out_of_its_pane_is_not_visible() {
        let mut scene = scene();
        let pane = Element {
            clips: true,
            role: "group".to_owned(),
            ..element("", 0, area(0, 0, 100, 50))
        };
        let inside = Element { parent: Some(0), ..element("in", 0, area(0, 40, 50, 20)) };
        let below = Element { parent: Some(0), ..element("below", 0, area(0, 60, 50, 20)) };
        scene.elements = vec![pane, inside, below];
        scene.reveal();
        assert_eq!(scene.elements[1].shown(), Some(area(0, 40, 50, 10)));
        assert_eq!(scene.elements[2].shown(), None);
    }

    #[test]
    fn the_element_at_a_point_is_the_innermost_of_the_topmost_window() {
        let mut scene = scene();
        let group = Element {
            role: "group".to_owned(),
            name: String::new(),
            ..element("", 0, area(10, 10, 5, 5))
        };
        scene
            .elements
            .push(Element { name: "form".to_owned(), ..element("form", 0, area(0, 0, 500, 400)) });
        scene.elements.push(group);
        scene.reveal();
        let at = |x, y| scene.at(Pixel { x, y }).map(|element| element.name.as_str());
        assert_eq!(at(12, 12), Some("front"));
        assert_eq!(at(210, 110), Some("form"));
        assert_eq!(at(720, 110), Some("free"));
        assert_eq!(at(950, 110), None);
    }
}
