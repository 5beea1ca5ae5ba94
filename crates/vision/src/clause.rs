//! What an instruction asks for, clause by clause, as far as it can be checked without a model.

mod address;
#[cfg(test)]
mod tests;

use helmdeck_wire::pointer::Direction;

use crate::{
    element::{Element, element},
    keys,
};
pub use address::address;
use address::only_address;

/// One thing that an instruction asks for. What a part says besides is never dropped: then it is [`Clause::Other`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    /// Use an element: click it, press it, open it.
    Use {
        /// The element.
        element: Element,
        /// How.
        gesture: Gesture,
    },
    /// Check a box or switch something on, or the opposite.
    Check {
        /// The box.
        element: Element,
        /// Whether it shall be checked.
        on: bool,
    },
    /// Give an element the keyboard focus.
    Focus(Element),
    /// Press a key.
    Key(String),
    /// Enter a text.
    Enter {
        /// The text.
        text: String,
        /// Where.
        field: Option<Element>,
    },
    /// Show a page at this address.
    Visit(String),
    /// Click the middle of the window.
    Middle,
    /// Scroll, in a direction if one is named.
    Scroll(Option<Direction>),
    /// Close the window or tab in front.
    Close(Closed),
    /// Something else: it cannot be checked.
    Other(String),
}

/// How an element is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// Click it once.
    Click,
    /// Click it once, so that it is chosen.
    Select,
    /// Click it as often as it needs to open.
    Open,
    /// Double-click it.
    Double,
    /// Click it with the right button.
    Right,
}

/// What is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// The window in front.
    Window,
    /// The tab in front.
    Tab,
}

/// Verbs that use an element.
const USES: [(&str, Gesture); 17] = [
    ("click", Gesture::Click),
    ("press", Gesture::Click),
    ("push", Gesture::Click),
    ("tap", Gesture::Click),
    ("hit", Gesture::Click),
    ("toggle", Gesture::Click),
    ("select", Gesture::Select),
    ("choose", Gesture::Select),
    ("pick", Gesture::Select),
    ("open", Gesture::Open),
    ("expand", Gesture::Open),
    ("follow", Gesture::Open),
    ("activate", Gesture::Open),
    ("use", Gesture::Open),
    ("double-click", Gesture::Double),
    ("doubleclick", Gesture::Double),
    ("right-click", Gesture::Right),
];
/// Verbs that check a box, or the opposite.
const CHECKS: [(&str, bool); 4] =
    [("check", true), ("tick", true), ("uncheck", false), ("untick", false)];
const ENTERS: [&str; 6] = ["type", "enter", "write", "fill", "input", "set"];
const OTHERS: [&str; 11] = [
    "focus", "go", "navigate", "visit", "browse", "scroll", "close", "put", "wait", "switch",
    "turn",
];

/// The clauses of an instruction.
pub fn clauses(instruction: &str) -> Vec<Clause> {
    split(instruction).iter().map(|part| read(part)).collect()
}

/// Splits where a new verb begins, outside of quotes: one part for each clause.
pub fn split(instruction: &str) -> Vec<String> {
    let text = instruction.trim().trim_end_matches(['.', '!']);
    let (mut parts, mut part, mut quote) = (Vec::new(), String::new(), None);
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let separator = match quote {
            Some(_) => None,
            None => [
                ". ",
                "; ",
                ", and then ",
                " and then ",
                ", then ",
                " then ",
                ", and ",
                " and ",
                ", ",
                "\n",
            ]
            .into_iter()
            .find(|separator| rest.starts_with(separator)),
        };
        let next = separator.and_then(|it| rest.get(it.len()..)).filter(|next| begins(next));
        if let Some(next) = next {
            parts.push(std::mem::take(&mut part));
            rest = next;
            continue;
        }
        match (quote, letter) {
            (Some(end), letter) if letter == end => quote = None,
            (None, '"') => quote = Some('"'),
            (None, '“') => quote = Some('”'),
            // An apostrophe inside a word is no quote.
            (None, '\'') if part.is_empty() || part.ends_with(' ') => quote = Some('\''),
            _ => {}
        }
        part.push(letter);
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    parts.push(part);
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn begins(text: &str) -> bool {
    let first = first_word(&polite(text));
    USES.iter().any(|(verb, _)| *verb == first)
        || CHECKS.iter().any(|(verb, _)| *verb == first)
        || ENTERS.contains(&first.as_str())
        || OTHERS.contains(&first.as_str())
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_lowercase()
}

/// Without words that say nothing.
fn polite(text: &str) -> String {
    let mut text = text.trim();
    while let Some(rest) = ["please ", "now ", "then ", "first ", "finally ", "next ", "and "]
        .iter()
        .find_map(|word| strip(text, word))
    {
        text = rest.trim_start_matches([',', ' ']);
    }
    for (words, verb) in [("double click ", "double-click "), ("right click ", "right-click ")] {
        if let Some(rest) = strip(text, words) {
            return format!("{verb}{rest}");
        }
    }
    text.to_owned()
}

/// Strips a prefix, whatever its case.
pub fn strip<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| text.get(prefix.len()..)).flatten()
}

fn read(part: &str) -> Clause {
    let part = polite(part);
    let verb = first_word(&part);
    let rest = part.get(verb.len()..).unwrap_or_default().trim();
    understood(&verb, rest).unwrap_or_else(|| Clause::Other(part.clone()))
}

/// What a verb and the rest of its part ask for, if nothing else is said.
fn understood(verb: &str, rest: &str) -> Option<Clause> {
    let after =
        |words: &[&str]| words.iter().find_map(|word| strip(rest, word)).unwrap_or(rest).trim();
    if let Some((_, on)) = CHECKS.iter().find(|(own, _)| *own == verb) {
        return element(rest).map(|element| Clause::Check { element, on: *on });
    }
    if let Some((_, gesture)) = USES.iter().find(|(own, _)| *own == verb) {
        return used(verb, *gesture, after(&["on ", "onto ", "to ", "in "]));
    }
    match verb {
        "focus" => element(after(&["on "])).map(Clause::Focus),
        "put" if rest.to_lowercase().contains("cursor") => {
            let (before, place) = rest.split_once(" in").unwrap_or((rest, ""));
            let plain = words(before).iter().all(|word| ["the", "cursor"].contains(&word.as_str()));
            element(place.trim_start_matches("to")).filter(|_| plain).map(Clause::Focus)
        }
        "switch" | "turn" => {
            let on = strip(rest, "on ").map(|rest| (rest, true));
            let (rest, on) = on.or_else(|| strip(rest, "off ").map(|rest| (rest, false)))?;
            element(rest).map(|element| Clause::Check { element, on })
        }
        "go" | "navigate" | "browse" | "visit" => only_address(after(&["to "])).map(Clause::Visit),
        "scroll" => scrolled(rest),
        "close" => closed(rest),
        verb if ENTERS.contains(&verb) || verb == "put" => enter(verb, rest),
        _ => None,
    }
}

fn used(verb: &str, gesture: Gesture, rest: &str) -> Option<Clause> {
    if verb == "open" && quoted(rest).is_none() && address(rest).is_some() {
        return only_address(rest).map(Clause::Visit);
    }
    if let (true, Some(keys)) = (matches!(verb, "press" | "hit" | "tap"), key(rest)) {
        return Some(Clause::Key(keys));
    }
    if gesture == Gesture::Click && quoted(rest).is_none() && is_middle(rest) {
        return Some(Clause::Middle);
    }
    element(rest).map(|element| Clause::Use { element, gesture })
}

/// The quoted name that follows a verb that uses an element, whatever is said after it.
pub fn used_first(text: &str) -> Option<&str> {
    let (before, name, _) = quotation(text)?;
    let mut words = words(before).into_iter();
    let verb = words.next()?;
    let uses = USES.iter().any(|(own, _)| *own == verb);
    let plain = words.all(|word| ["on", "the"].contains(&word.as_str()));
    (uses && plain).then_some(name)
}

/// Whether a text means the middle of the window, and not that of something in it.
fn is_middle(text: &str) -> bool {
    let words = words(text);
    let middle = |word: &String| ["center", "centre", "middle"].contains(&word.as_str());
    let plain = |word: &String| ["the", "very", "of", "window"].contains(&word.as_str());
    words.iter().any(middle) && words.iter().all(|word| middle(word) || plain(word))
}

fn scrolled(text: &str) -> Option<Clause> {
    let mut words = words(text);
    let plain = ["the", "page", "window", "a", "bit", "little", "further", "more"];
    words.retain(|word| !plain.contains(&word.as_str()));
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    Some(Clause::Scroll(match words.as_slice() {
        [] => None,
        ["up" | "upwards"] => Some(Direction::Up),
        ["down" | "downwards"] => Some(Direction::Down),
        ["left"] => Some(Direction::Left),
        ["right"] => Some(Direction::Right),
        _ => return None,
    }))
}

fn closed(text: &str) -> Option<Clause> {
    let mut words = words(text);
    words.retain(|word| !["the", "this", "current", "active"].contains(&word.as_str()));
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["window"] => Some(Clause::Close(Closed::Window)),
        ["tab"] => Some(Clause::Close(Closed::Tab)),
        _ => None,
    }
}

/// `X in Y`, `Y with X` and `Y to X`.
fn enter(verb: &str, rest: &str) -> Option<Clause> {
    let rest = strip(rest, "in ").or_else(|| strip(rest, "out ")).unwrap_or(rest).trim();
    let lower = rest.to_lowercase();
    let cut = |separator: &str| {
        let at = find_outside_quotes(&lower, rest, separator)?;
        Some((rest.get(..at)?, rest.get(at + separator.len()..)?))
    };
    let named_first = match verb {
        "fill" => cut(" with "),
        "set" => cut(" to "),
        _ => None,
    };
    let (text, field) = match named_first {
        Some((field, text)) => (text, Some(field)),
        None => [" into ", " in ", " as ", " to "]
            .iter()
            .find_map(|separator| cut(separator))
            .map_or((rest, None), |(text, field)| (text, Some(field))),
    };
    let text = entered_text(text)?;
    let field = match field {
        Some(field) => Some(element(field)?),
        None => None,
    };
    Some(Clause::Enter { text, field })
}

/// The text to enter: what is quoted, if nothing is said besides.
fn entered_text(text: &str) -> Option<String> {
    let Some((before, inner, after)) = quotation(text) else {
        let text = text.trim();
        let starts = ["the text ", "the word ", "the "];
        let text = starts.iter().find_map(|it| strip(text, it)).unwrap_or(text);
        return (!text.is_empty()).then(|| text.to_owned());
    };
    let plain = ["the", "text", "word", "words", "name", "number", "value"];
    let mut others = words(before).into_iter().chain(words(after));
    others.all(|word| plain.contains(&word.as_str())).then(|| inner.to_owned())
}

fn find_outside_quotes(lower: &str, text: &str, separator: &str) -> Option<usize> {
    lower.match_indices(separator).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).unwrap_or_default();
        before.matches('"').count() % 2 == 0
    })
}

/// The first quoted part of a text.
pub fn quoted(text: &str) -> Option<String> {
    quotation(text).map(|(_, inner, _)| inner.to_owned())
}

/// The first quoted part of a text, and what is before and after it.
pub fn quotation(text: &str) -> Option<(&str, &str, &str)> {
    for (open, close) in [('"', '"'), ('“', '”'), ('‘', '’'), ('\'', '\'')] {
        // An apostrophe inside a word is no quote.
        let starts = |(at, _): &(usize, &str)| {
            let before = text.get(..*at).and_then(|before| before.chars().next_back());
            !matches!(open, '‘' | '\'') || !before.is_some_and(char::is_alphanumeric)
        };
        if let Some((at, _)) = text.match_indices(open).find(starts)
            && let Some(before) = text.get(..at)
            && let Some((inner, after)) =
                text.get(at + open.len_utf8()..).and_then(|rest| rest.split_once(close))
            && !inner.trim().is_empty()
        {
            return Some((before, inner.trim(), after));
        }
    }
    None
}

/// A key or chord.
fn key(text: &str) -> Option<String> {
    let text = strip(text, "the ").unwrap_or(text);
    let text =
        text.strip_suffix(" key").or_else(|| text.strip_suffix(" keys")).unwrap_or(text).trim();
    if text.is_empty() || text.contains(' ') {
        return None;
    }
    let chord = keys::chord(text);
    let named = keys::shown(&chord) != "•" || matches!(chord.as_str(), "space");
    (named && !words(text).is_empty()).then_some(chord)
}

/// A name as words in lower case.
pub fn words(name: &str) -> Vec<String> {
    let parts = name.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
}
