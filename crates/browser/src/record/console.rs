//! The console messages of all tabs: the latest, limited in number and bytes.

use std::collections::VecDeque;

use helmdeck_cdp::Event;
use helmdeck_wire::browser::{ConsoleEntry, ConsoleLevel, ConsoleLog, ReadConsole, TabId};
use serde::Deserialize;
use time::OffsetDateTime;

use super::{
    moment, shown,
    words::{Remote, said, shortened},
};

const MAX_ENTRIES: usize = 5000;
const MAX_BYTES: usize = 4 << 20;
/// The most bytes of a text and of an address.
const MAX_TEXT: usize = 8 << 10;
const MAX_URL: usize = 2 << 10;
/// The size of an entry without its texts.
const ENTRY: usize = 200;
/// The default limit.
const LIMIT: u32 = 100;

/// The latest messages.
#[derive(Default)]
pub(crate) struct Console {
    /// INVARIANT: ids are consecutive, up to `last`.
    entries: VecDeque<ConsoleEntry>,
    bytes: usize,
    last: u64,
}

/// A message that has no id yet.
struct Line {
    at: OffsetDateTime,
    level: ConsoleLevel,
    text: String,
    place: Option<Place>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Called {
    #[serde(rename = "type")]
    kind: String,
    args: Vec<Remote>,
    timestamp: f64,
    stack_trace: Stack,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ExceptionThrown {
    timestamp: f64,
    exception_details: Details,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    text: String,
    exception: Option<Remote>,
    stack_trace: Stack,
    #[serde(flatten)]
    place: Place,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Added {
    entry: LogEntry,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct LogEntry {
    source: String,
    level: String,
    text: String,
    timestamp: f64,
    #[serde(flatten)]
    place: Place,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Stack {
    call_frames: Vec<Place>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Place {
    function_name: String,
    url: String,
    line_number: Option<i64>,
}

impl Console {
    /// Records an event of a tab. Returns whether the browser holds objects because of it.
    pub fn record_event(&mut self, tab: &TabId, event: &Event, now: OffsetDateTime) -> bool {
        match event.method.as_str() {
            "Runtime.consoleAPICalled" => {
                let Ok(called) = event.read::<Called>() else { return false };
                let held = called.args.iter().any(Remote::is_held);
                self.add(Some(tab), called.line());
                held
            }
            "Runtime.exceptionThrown" => {
                let Ok(ExceptionThrown { timestamp, exception_details }) = event.read() else {
                    return false;
                };
                let held = exception_details.exception.as_ref().is_some_and(Remote::is_held);
                self.add(Some(tab), Some(exception_details.line(timestamp)));
                held
            }
            "Log.entryAdded" => {
                if let Ok(Added { entry }) = event.read() {
                    self.add(Some(tab), entry.line());
                }
                false
            }
            "Inspector.targetCrashed" => {
                self.note(Some(tab), ConsoleLevel::Error, "the page crashed".to_owned(), now);
                false
            }
            _ => false,
        }
    }

    /// Adds a message by helmdeck itself.
    pub fn note(
        &mut self,
        tab: Option<&TabId>,
        level: ConsoleLevel,
        text: String,
        at: OffsetDateTime,
    ) {
        self.add(tab, Some(Line { at, level, text, place: None }));
    }

    fn add(&mut self, tab: Option<&TabId>, line: Option<Line>) {
        let Some(Line { at, level, text, place }) = line else { return };
        let place = place.unwrap_or_default();
        self.last += 1;
        let entry = ConsoleEntry {
            id: self.last,
            at,
            tab: tab.cloned(),
            level,
            text: shown(&text, MAX_TEXT),
            line: place.line().filter(|_| !place.url.is_empty()),
            url: Some(shown(&place.url, MAX_URL)).filter(|url| !url.is_empty()),
        };
        self.bytes += size(&entry);
        self.entries.push_back(entry);
        while self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.bytes -= size(&oldest);
        }
    }

    /// Returns the messages that match.
    pub fn read(&self, wanted: &ReadConsole) -> ConsoleLog {
        let ReadConsole { tab, level, since, limit } = wanted;
        let from = since.unwrap_or(0);
        let limit = usize::try_from(limit.unwrap_or(LIMIT)).unwrap_or(usize::MAX);
        let matching = |entry: &&ConsoleEntry| {
            // Messages about the browser belong to every tab.
            let here = tab.is_none() || entry.tab.is_none() || entry.tab == *tab;
            entry.id > from && here && level.is_none_or(|level| entry.level <= level)
        };
        let mut entries: Vec<_> = self.entries.iter().filter(matching).collect();
        let mut next = self.last;
        if entries.len() > limit {
            if since.is_some() {
                entries.truncate(limit);
                next = entries.last().map_or(next, |entry| entry.id);
            } else {
                entries.drain(..entries.len() - limit);
            }
        }
        let gone = self.last - u64::try_from(self.entries.len()).unwrap_or(u64::MAX);
        let entries = entries.into_iter().cloned().collect();
        ConsoleLog { entries, dropped: gone.saturating_sub(from), next }
    }

    pub fn knows(&self, tab: &TabId) -> bool {
        self.entries.iter().any(|entry| entry.tab.as_ref() == Some(tab))
    }
}

fn size(entry: &ConsoleEntry) -> usize {
    ENTRY + entry.text.len() + entry.url.as_ref().map_or(0, String::len)
}

impl Called {
    fn line(self) -> Option<Line> {
        let level = match self.kind.as_str() {
            "error" | "assert" => ConsoleLevel::Error,
            "warning" => ConsoleLevel::Warning,
            "debug" => ConsoleLevel::Debug,
            _ => ConsoleLevel::Info,
        };
        let said = said(&self.args);
        let text = match self.kind.as_str() {
            "endGroup" => return None,
            "clear" => "the console was cleared".to_owned(),
            "assert" => format!("Assertion failed: {said}"),
            "trace" => shortened(&format!("{said}{}", self.stack_trace.words())),
            _ => said,
        };
        let place = self.stack_trace.call_frames.into_iter().next();
        Some(Line { at: moment(self.timestamp / 1000.0), level, text, place })
    }
}

impl Details {
    fn line(self, timestamp: f64) -> Line {
        let thrown = self.exception.as_ref().map(Remote::words).unwrap_or_default();
        let text = format!("{} {thrown}", self.text).trim_end().to_owned();
        let place = match self.place.url.is_empty() {
            true => self.stack_trace.call_frames.into_iter().next(),
            false => Some(self.place),
        };
        Line { at: moment(timestamp / 1000.0), level: ConsoleLevel::Error, text, place }
    }
}

impl LogEntry {
    fn line(self) -> Option<Line> {
        // Workers report these themselves, with more detail.
        if self.source == "worker" {
            return None;
        }
        let level = match self.level.as_str() {
            "error" => ConsoleLevel::Error,
            "warning" => ConsoleLevel::Warning,
            "verbose" => ConsoleLevel::Debug,
            _ => ConsoleLevel::Info,
        };
        let at = moment(self.timestamp / 1000.0);
        Some(Line { at, level, text: self.text, place: Some(self.place) })
    }
}

impl Place {
    /// The line number, starting at one.
    fn line(&self) -> Option<u32> {
        u32::try_from(self.line_number?.checked_add(1)?).ok()
    }
}

impl Stack {
    fn words(&self) -> String {
        let words = |place: &Place| {
            let Place { function_name, url, .. } = place;
            let name = if function_name.is_empty() { "(anonymous)" } else { function_name };
            format!("\n    at {name} ({url}:{})", place.line().unwrap_or_default())
        };
        self.call_frames.iter().map(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(console: &Console, wanted: serde_json::Value) -> (Vec<String>, u64, u64) {
        let log = console.read(&serde_json::from_value(wanted).unwrap());
        let texts = log.entries.into_iter().map(|entry| entry.text).collect();
        (texts, log.dropped, log.next)
    }

    fn with(lines: usize, length: usize) -> Console {
        let (mut console, tab) = (Console::default(), TabId("a".into()));
        for number in 1..=lines {
            let text = format!("{number:0length$}");
            console.note(Some(&tab), ConsoleLevel::Info, text, OffsetDateTime::UNIX_EPOCH);
        }
        console
    }

    #[test]
    fn lines_are_read_from_where_the_last_reply_ended() {
        let mut console = with(5, 1);
        let other = TabId("b".into());
        let now = OffsetDateTime::UNIX_EPOCH;
        console.note(Some(&other), ConsoleLevel::Error, "bad".into(), now);
        console.note(None, ConsoleLevel::Warning, "restarted".into(), now);
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(
            read(&console, json!({ "limit": 3 })),
            (texts(&["5", "bad", "restarted"]), 0, 7)
        );
        assert_eq!(read(&console, json!({ "since": 1, "limit": 2 })), (texts(&["2", "3"]), 0, 3));
        let of_b = json!({ "since": 3, "tab": "b" });
        assert_eq!(read(&console, of_b), (texts(&["bad", "restarted"]), 0, 7));
        let worse = json!({ "level": "warning" });
        assert_eq!(read(&console, worse), (texts(&["bad", "restarted"]), 0, 7));
        assert_eq!(read(&console, json!({ "level": "error" })), (texts(&["bad"]), 0, 7));
        assert_eq!(read(&console, json!({ "since": 7 })), (texts(&[]), 0, 7));
    }

    #[test]
    fn the_oldest_lines_are_dropped_and_counted() {
        let many = with(MAX_ENTRIES + 10, 1);
        let (texts, dropped, next) = read(&many, json!({ "since": 4, "limit": 1 }));
        assert_eq!((texts[0].as_str(), dropped, next), ("11", 6, 11));
        assert_eq!(read(&many, json!({})).1, 10);
        assert_eq!(read(&many, json!({ "since": 5000 })).1, 0);

        let long = with(2000, MAX_TEXT * 2);
        assert!(long.bytes <= MAX_BYTES && long.entries.len() > 300, "{}", long.bytes);
        assert!(long.entries.iter().all(|entry| entry.text.len() <= MAX_TEXT + '…'.len_utf8()));
    }
}
