//! Records console messages and requests within a memory limit. Pure: fed by events; time is passed
//! in.

mod console;
mod cookies;
mod events;
mod extra;
mod har;
mod headers;
mod network;
mod pages;
mod release;
mod request;
mod secrets;
mod words;

use helmdeck_cdp::Event;
use helmdeck_wire::browser::{ConsoleLevel, TabId};
use time::OffsetDateTime;

use console::Console;
pub(crate) use har::document as har;
pub(crate) use network::MAX_POSTED;
use network::Network;
pub(crate) use release::Releases;

/// The note in the console when the session's browser was restarted.
const RESTARTED: &str = "the browser was restarted";

/// The records of a session's browsers, including those that ended.
#[derive(Default)]
pub(crate) struct Records {
    pub console: Console,
    pub network: Network,
    started: bool,
    /// How many browsers have been followed.
    browsers: u64,
}

impl Records {
    /// Registers a browser and returns its number. A second `own` browser of the session is a
    /// restart, which the console notes.
    pub fn browser_started(&mut self, own: bool, now: OffsetDateTime) -> u64 {
        if own && std::mem::replace(&mut self.started, true) {
            self.console.note(None, ConsoleLevel::Warning, RESTARTED.to_owned(), now);
        }
        self.browsers += 1;
        self.browsers
    }

    /// Records an event of a tab; `main` if it comes from the page itself and not from a frame or
    /// worker. Returns whether the browser holds objects because of it.
    pub fn record_event(
        &mut self,
        browser: u64,
        tab: &TabId,
        main: bool,
        event: &Event,
        now: OffsetDateTime,
    ) -> bool {
        let domain = event.method.split('.').next().unwrap_or_default();
        match domain {
            "Runtime" | "Log" | "Inspector" => return self.console.record_event(tab, event, now),
            "Network" => self.network.record_event(browser, tab, event, now),
            "Page" if main => self.network.pages.went_on(tab, event),
            _ => {}
        }
        false
    }

    /// Events of a tab were lost.
    pub fn missed(&mut self, tab: &TabId, events: u64, now: OffsetDateTime) {
        let text = format!("{events} events of this tab were lost because they came too fast");
        self.console.note(Some(tab), ConsoleLevel::Warning, text, now);
    }

    /// A tab was closed: its open requests fail.
    pub fn closed(&mut self, tab: &TabId) {
        self.network.lost(tab, "the tab was closed");
    }

    /// A tab ended with its browser.
    pub fn ended(&mut self, tab: &TabId) {
        self.network.lost(tab, "the browser ended");
    }

    /// Whether there are records of a tab.
    pub fn knows(&self, tab: &TabId) -> bool {
        self.console.knows(tab) || self.network.knows(tab)
    }
}

/// A text without user names and passwords in addresses, shortened to `room` bytes.
fn shown(text: &str, room: usize) -> String {
    // Look at a little more, so that no password is cut in half.
    let mut rest = cut(text, room + 1024);
    let mut shown = String::with_capacity(rest.len());
    while let Some(found) = rest.find("://") {
        let (before, after) = rest.split_at(found + 3);
        shown.push_str(before);
        let ends = |c: char| c.is_whitespace() || "/?#\\\"'`<>()".contains(c);
        let end = after.find(ends).unwrap_or(after.len());
        let (authority, more) = after.split_at(end);
        shown.push_str(authority.rsplit('@').next().unwrap_or_default());
        rest = more;
    }
    shown.push_str(rest);
    if shown.len() > room {
        shown.truncate(shown.floor_char_boundary(room));
        shown.push('…');
    }
    shown
}

/// The beginning of a text.
fn cut(text: &str, room: usize) -> &str {
    text.get(..text.floor_char_boundary(room)).unwrap_or_default()
}

/// A time that the browser reported in seconds since 1970.
fn moment(seconds: f64) -> OffsetDateTime {
    // Whole milliseconds: a float is not more precise here.
    let nanoseconds = (seconds * 1000.0).round() as i128 * 1_000_000;
    OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_addresses_are_not_shown() {
        for (text, expected) in [
            ("http://me:secret@a.example/b@c", "http://a.example/b@c"),
            ("at f (http://me:p@a/x.js:1:2)\n at ws://u@b", "at f (http://a/x.js:1:2)\n at ws://b"),
            ("https://a.example/?mail=a@b.example", "https://a.example/?mail=a@b.example"),
            ("no address: a@b", "no address: a@b"),
        ] {
            assert_eq!(shown(text, 1000), expected);
        }
        assert_eq!(shown("äöü", 3), "ä…");
        assert_eq!(shown("http://me:p@a.example/long", 18), "http://a.example/l…");
    }
}
