//! The keyboard focus inside the active program, before and after an action.
//!
//! Pages tell their focus themselves. Of other programs, and of the browser's own toolbar, it is
//! known by accessibility: usually one round trip, and never longer than a limit.

use std::time::Duration;

use helmdeck_atspi::{Node, Program, State};
use helmdeck_display::{Display, observe::Rect};
use tokio::time::timeout;

use super::effect::ProgramFocus;
use crate::begin::Guest;

/// How long an action may be delayed, which includes the start of the reader.
const BEFORE: Duration = Duration::from_millis(300);
/// How long the reply may be delayed.
const AFTER: Duration = Duration::from_millis(200);
/// A list of tabs has the focus for its tabs, and does not tell which one is chosen.
const TAB_LIST: u32 = 38;
/// States that come and go with the focus and the pointer: active, armed, focused.
const PASSING: u64 = 1 << State::Active as u32 | 1 << 2 | 1 << State::Focused as u32;

/// The focus before an action.
pub struct FocusBefore {
    owner: Owner,
    /// With the elements at the action's place.
    program: Program,
    /// Whether elements at a place were read.
    pointed: bool,
}

/// Whose focus is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The session's own browser.
    Browser,
    /// The program with this process id.
    Program(u32),
}

impl FocusBefore {
    /// Reads the focus of the active program; `None` if it is not known.
    pub async fn read(guest: &Guest, display: &Display, at: Option<(i32, i32)>) -> Option<Self> {
        let facts = display.active_facts().await.ok()??;
        let owner = match facts.pid {
            _ if facts.browser => Owner::Browser,
            Some(pid) => Owner::Program(pid),
            None => return None,
        };
        // The elements of pages are not read here.
        let at = at.filter(|_| owner != Owner::Browser);
        let program = read(guest, owner, at, BEFORE).await?;
        Some(Self { owner, program, pointed: at.is_some() })
    }

    /// What happened to the focus.
    pub async fn compare(&self, guest: &Guest) -> ProgramFocus {
        match read(guest, self.owner, None, AFTER).await {
            Some(after) => {
                let in_browser = self.owner == Owner::Browser;
                ProgramFocus { in_browser, ..moved(&self.program, &after, self.pointed) }
            }
            None => ProgramFocus::default(),
        }
    }
}

/// Reads within a limit. The reader itself is left to finish, or it would have to start again.
async fn read(
    guest: &Guest,
    owner: Owner,
    at: Option<(i32, i32)>,
    limit: Duration,
) -> Option<Program> {
    let guest = guest.clone();
    let reading = helmdeck_task::spawn(async move { guest.read_focus(owner, at).await });
    timeout(limit, reading).await.ok()?.ok()?.filter(|program| !program.unresponsive)
}

fn moved(before: &Program, after: &Program, pointed: bool) -> ProgramFocus {
    let (old, new) = (before.focus.as_ref(), after.focus.as_ref());
    let Some(new) = new.filter(|new| old.is_none_or(|old| old.path != new.path)) else {
        return ProgramFocus::default();
    };
    let same = before.nodes.iter().find(|node| node.path == new.path);
    let lost = old.and_then(area);
    ProgramFocus {
        moved: true,
        lost,
        got: area(new),
        // An element that was not there before is more than a focus.
        altered: same.map_or(pointed, |same| is_altered(same, new))
            || pointed && new.role == TAB_LIST,
        in_browser: false,
    }
}

/// Whether an element tells something else than before, apart from the focus.
fn is_altered(before: &Node, after: &Node) -> bool {
    // Of the focused element only numbers are read.
    let number = !after.value.is_empty() && before.value != after.value;
    let size = |node: &Node| node.rect.map(|(_, _, width, height)| (width, height));
    number
        || size(before) != size(after)
        || before.name != after.name
        || before.states & !PASSING != after.states & !PASSING
}

fn area(node: &Node) -> Option<Rect> {
    let (x, y, width, height) = node.rect?;
    let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    Some(Rect { x, y, width, height })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(path: &str, name: &str, states: u64) -> Node {
        let rect = Some((10, 20, 80, 30));
        Node { path: path.into(), name: name.into(), states, rect, ..Node::default() }
    }

    fn program(focus: Option<Node>, nodes: Vec<Node>) -> Program {
        Program { focus, nodes, ..Program::default() }
    }

    #[test]
    fn the_focus_moves_if_another_element_has_it() {
        let focused = 1 << State::Focused as u32;
        let before = program(Some(node("/a", "first", focused)), vec![node("/b", "Act", 0)]);
        let same = program(Some(node("/a", "first", focused)), vec![]);
        assert!(!moved(&before, &same, false).moved);
        assert!(!moved(&before, &program(None, vec![]), false).moved);
        let other = program(Some(node("/b", "Act", focused)), vec![]);
        let focus = moved(&before, &other, false);
        assert!(focus.moved && !focus.altered);
        assert_eq!(focus.got, Some(Rect { x: 10, y: 20, width: 80, height: 30 }));
    }

    #[test]
    fn an_element_with_another_name_or_state_is_altered() {
        let before = program(None, vec![node("/b", "Act", 0)]);
        let renamed = program(Some(node("/b", "Pressed", 0)), vec![]);
        assert!(moved(&before, &renamed, false).altered);
        let checked = program(Some(node("/b", "Act", 1 << State::Checked as u32)), vec![]);
        assert!(moved(&before, &checked, false).altered);
        let valued = |value: &str| Node { value: value.into(), ..node("/b", "Act", 0) };
        let slider = program(None, vec![valued("3")]);
        assert!(moved(&slider, &program(Some(valued("5")), vec![]), true).altered);
        assert!(!moved(&slider, &program(Some(valued("3")), vec![]), true).altered);
        assert!(!moved(&slider, &program(Some(valued("")), vec![]), true).altered);
        let other = program(Some(node("/c", "New", 0)), vec![]);
        assert!(moved(&before, &other, true).altered);
        assert!(!moved(&before, &other, false).altered);
    }
}
