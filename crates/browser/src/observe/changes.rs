//! Compares the pages before and after an action.

use helmdeck_wire::browser::{Tab, TabId};

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
    /// The title of the visible tab.
    pub title: Option<ShownTitle>,
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

/// The title that a tab shows for a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownTitle {
    /// The tab.
    pub tab: TabId,
    /// The address of the document.
    pub url: String,
    /// The title.
    pub title: String,
}

/// A text that was inserted into a field. The text itself stays in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inserted {
    /// Its hash, by [`hashed`](super::hashed).
    pub hash: u32,
    /// Where the field is.
    pub field: Area,
}

pub(super) fn title_of(tabs: &[SeenTab], id: &TabId) -> Option<ShownTitle> {
    let Tab { id: tab, url, title, .. } = tabs.iter().find(|seen| seen.tab.id == *id)?.tab.clone();
    Some(ShownTitle { tab, url, title })
}

impl PageWatch {
    pub(super) fn compare(&self, after: Option<&Looked>) -> PageChanges {
        let now = seen_tabs(&self.running);
        // Others do what they do in the background.
        let shown = [self.before.as_ref(), after].into_iter().flatten();
        let shown = shown.map(|looked| looked.page.tab());
        let counted: Vec<&TabId> = shown.chain(&self.acts_in).collect();
        let mut changes = of_tabs(&self.tabs, &now, &counted);
        changes.title = after.and_then(|after| title_of(&now, after.page.tab()));
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

/// What happened to the tabs. Addresses and titles count for the `counted` ones.
fn of_tabs(before: &[SeenTab], after: &[SeenTab], counted: &[&TabId]) -> PageChanges {
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
        changes.dialog |= now.dialog && !then.dialog;
        if !counted.contains(&&now.tab.id) {
            continue;
        }
        changes.title_changed |= then.tab.title != now.tab.title;
        let went = then.tab.url != now.tab.url
            || !then.loader.is_empty() && !now.loader.is_empty() && then.loader != now.loader;
        if went {
            changes.navigated = Some(now.tab.url.clone());
        }
    }
    changes.closed = before.iter().filter(|then| find(after, then).is_none()).count();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of(before: &[SeenTab], after: &[SeenTab]) -> PageChanges {
        let ids: Vec<&TabId> = before.iter().chain(after).map(|seen| &seen.tab.id).collect();
        of_tabs(before, after, &ids)
    }

    fn seen(id: &str, url: &str, loader: &str) -> SeenTab {
        let tab = Tab { id: TabId(id.into()), url: url.into(), title: "t".into(), active: true };
        SeenTab { tab, loader: loader.into(), dialog: false }
    }

    #[test]
    fn tabs_that_open_close_or_go_elsewhere_are_told_apart() {
        let before = [seen("1", "http://a/", "x"), seen("2", "http://b/", "y")];
        assert_eq!(
            all_of(&before, &[seen("1", "http://a/", "x"), seen("2", "http://b/", "y")]),
            PageChanges::default()
        );
        let after = [seen("1", "http://a/#c", "x"), seen("3", "http://d/", "z")];
        let changes = all_of(&before, &after);
        assert_eq!((changes.opened, changes.closed), (1, 1));
        assert_eq!(changes.navigated.as_deref(), Some("http://a/#c"));
        // A reload keeps the address.
        let reloaded = all_of(&before[..1], &[seen("1", "http://a/", "w")]);
        assert_eq!(reloaded.navigated.as_deref(), Some("http://a/"));
    }

    #[test]
    fn a_dialog_that_was_open_before_is_not_new() {
        let open = |dialog: bool| [SeenTab { dialog, ..seen("1", "http://a/", "x") }];
        assert!(all_of(&open(false), &open(true)).dialog);
        assert!(!all_of(&open(true), &open(true)).dialog);
    }

    #[test]
    fn what_a_background_tab_does_is_no_effect() {
        let before = [seen("1", "http://a/", "x"), seen("2", "http://b/", "y")];
        let mut after = [seen("1", "http://a/", "x"), seen("2", "http://b/next", "z")];
        after[1].tab.title = "(1) inbox".to_owned();
        let (shown, behind) = (TabId("1".into()), TabId("2".into()));
        assert_eq!(of_tabs(&before, &after, &[&shown]), PageChanges::default());
        let acted = of_tabs(&before, &after, &[&shown, &behind]);
        assert!(acted.title_changed && acted.navigated.is_some());
        // A tab that opens is one, whatever it shows.
        let opened = [seen("1", "http://a/", "x"), seen("3", "http://c/", "w")];
        assert_eq!(of_tabs(&before[..1], &opened, &[&shown]).opened, 1);
    }
}
