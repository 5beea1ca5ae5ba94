//! Notices a title that changes by itself: a clock, a counter, a text that moves. Pure.

use helmdeck_browser::ShownTitle;

/// A title ticks if it changed this often in a row between two actions.
const TICKS: u32 = 2;

/// The title that the visible tab last showed, and how often it changed without an action.
#[derive(Debug, Default)]
pub struct Titles {
    last: Option<ShownTitle>,
    ticks: u32,
}

impl Titles {
    /// Notes the title before an action. Whether it changes by itself.
    pub fn ticks(&mut self, now: &ShownTitle) -> bool {
        let last = self.last.take().filter(|last| last.tab == now.tab && last.url == now.url);
        self.ticks = match last {
            Some(last) if last.title != now.title => self.ticks.saturating_add(1),
            _ => 0,
        };
        self.last = Some(now.clone());
        self.ticks >= TICKS
    }

    /// Notes the title after an action.
    pub fn shown(&mut self, title: Option<ShownTitle>) {
        self.last = title;
    }

    /// Forgets the title: an action followed whose effect is not known.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::browser::TabId;

    use super::*;

    fn title(url: &str, title: &str) -> ShownTitle {
        ShownTitle { tab: TabId("1".into()), url: url.to_owned(), title: title.to_owned() }
    }

    #[test]
    fn a_title_that_changes_between_actions_ticks() {
        let mut titles = Titles::default();
        assert!(!titles.ticks(&title("a", "0:01")));
        titles.shown(Some(title("a", "0:01")));
        assert!(!titles.ticks(&title("a", "0:04")));
        titles.shown(Some(title("a", "0:05")));
        assert!(titles.ticks(&title("a", "0:09")));
        // Another document is another title.
        titles.shown(Some(title("b", "0:09")));
        assert!(!titles.ticks(&title("b", "0:09")));
    }

    #[test]
    fn a_title_that_only_actions_change_does_not_tick() {
        let mut titles = Titles::default();
        for count in 0..9 {
            assert!(!titles.ticks(&title("a", &format!("clicked {count}"))));
            titles.shown(Some(title("a", &format!("clicked {}", count + 1))));
        }
        for count in 0..9 {
            assert!(!titles.ticks(&title("a", &format!("unobserved {count}"))));
            titles.forget();
        }
    }
}
