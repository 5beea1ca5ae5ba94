//! Compares the pages before and after an action.

use super::{Area, Looked, PagePeriodic, PageWatch, SeenTab, look::Placed, seen_tabs};

/// What changed in the browser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageChanges {
    /// The address of a tab that shows another document, or has another address.
    pub navigated: Option<String>,
    /// How many tabs opened.
    pub opened: usize,
    /// How many tabs closed.
    pub closed: usize,
    /// A tab has another title.
    pub title_changed: bool,
    /// A page shows a dialog that it did not show before.
    pub dialog: bool,
    /// A download began.
    pub download: bool,
    /// Something was scrolled.
    pub scrolled: bool,
    /// A field has another value.
    pub value_changed: bool,
    /// The text that was inserted into the focused field, which is the only change of its value.
    pub inserted: Option<Inserted>,
    /// The text cursor or the selection is elsewhere in the same field.
    pub caret_moved: bool,
    /// Another element has the focus, or none.
    pub focus_moved: bool,
    /// An element has the focus that did not have it before.
    pub focused: bool,
    /// Where the elements are that lost and got the focus, and those that had it in between.
    pub focus: Vec<Area>,
    /// Where the one is that lost it.
    pub unfocused: Option<Area>,
    /// Where the document changed, as far as it is in view.
    pub mutated: Vec<Area>,
    /// The document changed where it is not in view.
    pub changed_out_of_view: bool,
    /// What moves on its own.
    pub periodic: Vec<PagePeriodic>,
    /// The visible part of the page.
    pub viewport: Option<Area>,
}

/// A text that was inserted into a field. The text itself stays in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inserted {
    /// Its hash, by [`hashed`](super::hashed).
    pub hash: u32,
    /// Where the field is.
    pub field: Area,
}

impl PageWatch {
    pub(super) fn compare(&self, after: Option<&Looked>) -> PageChanges {
        let mut changes = of_tabs(&self.tabs, &seen_tabs(&self.running));
        let downloads = self.running.known.downloads.lock().mark();
        changes.download = downloads > self.downloads;
        let Some(after) = after else { return changes };
        let placed = after.placed(self.on_screen);
        changes.periodic = placed.periodic();
        changes.viewport = placed.viewport();
        let same_document = |before: &&Looked| {
            before.page.tab() == after.page.tab() && before.frame.loader == after.frame.loader
        };
        let Some(before) = self.before.as_ref().filter(same_document) else { return changes };
        changes.mutated = placed.mutated();
        changes.changed_out_of_view = after.look.hidden > 0;
        let all = || std::iter::once(&after.look).chain(&after.frames);
        changes.scrolled = all().any(|look| look.scrolls > 0);
        let was = before.placed(self.on_screen);
        let (old, new) = (before.look.focus, after.look.focus);
        let focused = |at: &Placed<'_>| {
            let inside = at.frame().and_then(|(_, frame)| frame.focus);
            at.look.focus.map(|focus| (focus.number, inside.map(|focus| focus.number)))
        };
        changes.focus_moved = focused(&was) != focused(&placed);
        changes.focused = changes.focus_moved && new.is_some();
        let in_place = |differ: fn(&super::look::Focus, &super::look::Focus) -> bool| {
            let both = old.as_ref().zip(new.as_ref()).filter(|_| !changes.focus_moved);
            both.is_some_and(|(old, new)| differ(old, new))
        };
        changes.value_changed =
            all().any(|look| look.inputs > 0) || in_place(|old, new| old.value != new.value);
        let inserted = new.filter(|_| !changes.focus_moved).and_then(|focus| focus.inserted);
        changes.inserted =
            inserted.zip(placed.focus()).map(|(hash, field)| Inserted { hash, field });
        changes.caret_moved = in_place(|old, new| old.caret != new.caret);
        if changes.focus_moved {
            changes.unfocused = was.focus();
            let both = was.focus().into_iter().chain(placed.focus());
            changes.focus = both.chain(placed.focused()).collect();
        }
        changes
    }
}

fn of_tabs(before: &[SeenTab], after: &[SeenTab]) -> PageChanges {
    let find = |tabs: &'_ [SeenTab], wanted: &SeenTab| -> Option<usize> {
        tabs.iter().position(|seen| seen.tab.id == wanted.tab.id)
    };
    let mut changes = PageChanges::default();
    for now in after {
        let then = find(before, now).and_then(|index| before.get(index));
        let Some(then) = then else {
            changes.opened += 1;
            changes.dialog |= now.dialog;
            continue;
        };
        let went = then.tab.url != now.tab.url
            || !then.loader.is_empty() && !now.loader.is_empty() && then.loader != now.loader;
        if went {
            changes.navigated = Some(now.tab.url.clone());
        }
        changes.title_changed |= then.tab.title != now.tab.title;
        changes.dialog |= now.dialog && !then.dialog;
    }
    changes.closed = before.iter().filter(|then| find(after, then).is_none()).count();
    changes
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::browser::{Tab, TabId};

    use super::*;

    fn seen(id: &str, url: &str, loader: &str) -> SeenTab {
        let tab = Tab { id: TabId(id.into()), url: url.into(), title: "t".into(), active: true };
        SeenTab { tab, loader: loader.into(), dialog: false }
    }

    #[test]
    fn tabs_that_open_close_or_go_elsewhere_are_told_apart() {
        let before = [seen("1", "http://a/", "x"), seen("2", "http://b/", "y")];
        assert_eq!(
            of_tabs(&before, &[seen("1", "http://a/", "x"), seen("2", "http://b/", "y")]),
            PageChanges::default()
        );
        let after = [seen("1", "http://a/#c", "x"), seen("3", "http://d/", "z")];
        let changes = of_tabs(&before, &after);
        assert_eq!((changes.opened, changes.closed), (1, 1));
        assert_eq!(changes.navigated.as_deref(), Some("http://a/#c"));
        // A reload keeps the address.
        let reloaded = of_tabs(&before[..1], &[seen("1", "http://a/", "w")]);
        assert_eq!(reloaded.navigated.as_deref(), Some("http://a/"));
    }

    #[test]
    fn a_dialog_that_was_open_before_is_not_new() {
        let open = |dialog: bool| [SeenTab { dialog, ..seen("1", "http://a/", "x") }];
        assert!(of_tabs(&open(false), &open(true)).dialog);
        assert!(!of_tabs(&open(true), &open(true)).dialog);
    }
}
