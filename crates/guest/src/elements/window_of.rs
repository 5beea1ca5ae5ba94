//! Which window shows an element of a program.

use helmdeck_a11y::{Element, Surface, rect, role};
use helmdeck_atspi::{Node, Program, roles};
use helmdeck_wire::{aim::Source, point::Rect};

/// Roles whose content scrolls: scroll panes and viewports.
const CLIPPING: [u32; 2] = [49, 68];
/// The longest name and value that are kept, in characters.
const MAX_NAME: usize = 500;
const MAX_VALUE: usize = 4000;
/// Limit on elements of one program.
pub const MAX_NODES: usize = 4000;

/// Adds the elements of a program to a list. `own` are the indices of its windows, topmost first;
/// `name` gives refs.
pub fn add(
    elements: &mut Vec<Element>,
    program: &Program,
    surfaces: &[Surface],
    own: &[usize],
    mut name: impl FnMut(&str) -> String,
) {
    let first = elements.len();
    // GTK 4 does not know where its windows are.
    let relative = program.toolkit.to_lowercase().starts_with("gtk 4");
    for node in program.nodes.iter().take(MAX_NODES) {
        // A program may name any parent; only earlier ones are possible.
        let parent = node.parent.map(|at| at + first).filter(|at| *at < elements.len());
        let above = parent.and_then(|at| elements.get(at));
        let own_rect = node.rect.and_then(area);
        let surface = match above {
            None => toplevel(node, own_rect.filter(|_| !relative), surfaces, own),
            Some(above) => popup(above, own_rect, surfaces, own).or(above.surface),
        };
        let corner = surface.and_then(|at| surfaces.get(at)).map(|surface| surface.window.rect);
        let own_rect = match corner.filter(|_| relative) {
            Some(corner) => own_rect.map(|own| Rect {
                x: own.x.saturating_add(corner.x),
                y: own.y.saturating_add(corner.y),
                ..own
            }),
            None => own_rect,
        };
        elements.push(Element {
            reference: name(&node.path),
            parent,
            surface,
            role: helmdeck_atspi::role(node.role).to_owned(),
            name: clipped(&node.name, MAX_NAME),
            value: clipped(&node.value, MAX_VALUE),
            states: helmdeck_atspi::states(node.role, node.states)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            rect: own_rect,
            clips: CLIPPING.contains(&node.role),
            source: Source::Accessibility,
            ..Element::default()
        });
    }
}

/// The place of the page in a browser's window: the window's index and the rectangle.
pub fn pages(program: &Program, elements: &[Element], first: usize) -> Vec<(usize, Rect)> {
    let mut pages: Vec<(usize, Rect)> = Vec::new();
    for (at, node) in program.nodes.iter().enumerate() {
        let element = elements.get(first + at);
        if let Some((surface, rect)) = element.and_then(|element| element.surface.zip(element.rect))
            && node.role == roles::DOCUMENT_WEB
            && !pages.iter().any(|(known, _)| *known == surface)
        {
            pages.push((surface, rect));
        }
    }
    pages
}

fn clipped(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

fn area((x, y, width, height): (i32, i32, i32, i32)) -> Option<Rect> {
    rect::from_edges(x, y, x.saturating_add(width), y.saturating_add(height))
}

/// The window of an element that is itself a window: the one with its title, else the one that has
/// most in common with its place.
fn toplevel(
    node: &Node,
    place: Option<Rect>,
    surfaces: &[Surface],
    own: &[usize],
) -> Option<usize> {
    let title = |at: &&usize| {
        surfaces.get(**at).is_some_and(|surface| {
            !surface.window.popup && !node.name.is_empty() && surface.window.name == node.name
        })
    };
    let titled: Vec<usize> = own.iter().filter(title).copied().collect();
    let Some(place) = place else { return titled.first().or(own.first()).copied() };
    let common = |at: usize| {
        let frame = surfaces.get(at).map(|surface| surface.frame).unwrap_or_default();
        let common = rect::intersection(frame, place).map_or(0, rect::area);
        // In thousandths of both together.
        let both = (rect::area(frame) + rect::area(place)).saturating_sub(common).max(1);
        common * 1000 / both
    };
    let among = if titled.is_empty() { own.to_vec() } else { titled };
    among
        .into_iter()
        .map(|at| (common(at), at))
        .filter(|(common, _)| *common > 0)
        .max()
        .map(|it| it.1)
}

/// The menu or list that shows the child of an element that opens one.
fn popup(
    above: &Element,
    place: Option<Rect>,
    surfaces: &[Surface],
    own: &[usize],
) -> Option<usize> {
    if !role::opens_popup(&above.role) {
        return None;
    }
    let middle = rect::centre(place?);
    let shows = |at: &&usize| {
        let surface = surfaces.get(**at);
        surface.is_some_and(|it| it.window.popup && rect::contains(it.frame, middle))
    };
    own.iter().find(shows).copied()
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::tree::TreeWindow;

    use super::*;

    fn surface(name: &str, popup: bool, frame: Rect) -> Surface {
        let window =
            TreeWindow { name: name.to_owned(), popup, rect: frame, ..TreeWindow::default() };
        Surface { window, frame, listed: true }
    }

    fn node(role: u32, parent: Option<usize>, rect: (i32, i32, i32, i32)) -> Node {
        Node { role, parent, rect: Some(rect), path: format!("/{role}"), ..Node::default() }
    }

    fn placed(program: &Program, surfaces: &[Surface]) -> Vec<Option<usize>> {
        let mut elements = Vec::new();
        let own: Vec<usize> = (0..surfaces.len()).collect();
        add(&mut elements, program, surfaces, &own, str::to_owned);
        elements.iter().map(|element| element.surface).collect()
    }

    #[test]
    fn menu_items_are_in_the_popup_and_the_menu_bar_is_in_the_window() {
        let popup = surface("", true, Rect { x: 0, y: 50, width: 100, height: 200 });
        let window = surface("Editor", false, Rect { x: 0, y: 0, width: 500, height: 500 });
        let nodes = vec![
            Node { name: "Editor".to_owned(), ..node(23, None, (0, 0, 500, 500)) },
            node(34, Some(0), (0, 20, 500, 30)),
            node(33, Some(1), (0, 20, 60, 30)),
            node(35, Some(2), (0, 60, 100, 20)),
            // A button that the menu covers.
            node(43, Some(0), (0, 60, 50, 20)),
        ];
        let program = Program { nodes, ..Program::default() };
        let expected = [Some(1), Some(1), Some(1), Some(0), Some(1)];
        assert_eq!(placed(&program, &[popup, window]), expected);
    }

    #[test]
    fn windows_of_one_program_are_told_apart_by_title_and_place() {
        let left = surface("A", false, Rect { x: 0, y: 0, width: 100, height: 100 });
        let right = surface("A", false, Rect { x: 100, y: 0, width: 100, height: 100 });
        let other = surface("B", false, Rect { x: 0, y: 0, width: 100, height: 100 });
        let named = |name: &str, rect| Node { name: name.to_owned(), ..node(23, None, rect) };
        let nodes = vec![
            named("A", (105, 0, 90, 100)),
            named("B", (0, 0, 100, 100)),
            named("", (0, 0, 100, 90)),
            named("C", (900, 900, 10, 10)),
        ];
        let program = Program { nodes, ..Program::default() };
        let found = placed(&program, &[left, right, other]);
        assert_eq!(found, [Some(1), Some(2), Some(2), None]);
    }

    #[test]
    fn elements_of_gtk_4_are_moved_to_their_window() {
        let window = surface("A", false, Rect { x: 50, y: 60, width: 100, height: 100 });
        let mut elements = Vec::new();
        let nodes = vec![
            Node { name: "A".to_owned(), ..node(23, None, (0, 0, 100, 100)) },
            node(43, Some(0), (10, 10, 20, 20)),
            node(43, Some(9), (0, 0, 1, 1)),
        ];
        let program = Program { nodes, toolkit: "GTK 4.8.3".to_owned(), ..Program::default() };
        add(&mut elements, &program, &[window], &[0], str::to_owned);
        assert_eq!(elements[1].rect, Some(Rect { x: 60, y: 70, width: 20, height: 20 }));
        assert_eq!(elements[2].parent, None, "an invented parent");
    }
}
