//! What an instruction asks for, clause by clause, as far as it can be checked without a model.

use crate::{
    element::{Element, element},
    keys,
};

/// One thing that an instruction asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    /// Use an element: click it, press it, open it.
    Use(Element),
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
    /// Click the middle of a window or of the screen.
    Middle,
    /// Scroll.
    Scroll,
    /// Close a window or tab.
    Close,
    /// Something else: it cannot be checked.
    Other(String),
}

const USES: [&str; 22] = [
    "click",
    "double-click",
    "doubleclick",
    "right-click",
    "press",
    "push",
    "tap",
    "hit",
    "select",
    "choose",
    "pick",
    "activate",
    "toggle",
    "check",
    "tick",
    "uncheck",
    "untick",
    "open",
    "expand",
    "follow",
    "switch",
    "use",
];
const ENTERS: [&str; 6] = ["type", "enter", "write", "fill", "input", "set"];
const OTHERS: [&str; 9] =
    ["focus", "go", "navigate", "visit", "browse", "scroll", "close", "put", "wait"];

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
    USES.contains(&first.as_str())
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
    let after =
        |words: &[&str]| words.iter().find_map(|word| strip(rest, word)).unwrap_or(rest).trim();
    let other = || Clause::Other(part.clone());
    match verb.as_str() {
        "focus" => element(after(&["on "])).map_or_else(other, Clause::Focus),
        "put" if rest.to_lowercase().contains("cursor") => {
            let (_, place) = rest.split_once(" in").unwrap_or((rest, ""));
            element(place.trim_start_matches("to")).map_or_else(other, Clause::Focus)
        }
        "go" | "navigate" | "browse" | "visit" => match address(after(&["to "])) {
            Some(url) => Clause::Visit(url),
            None => other(),
        },
        "scroll" => Clause::Scroll,
        "close" => Clause::Close,
        verb if ENTERS.contains(&verb) || verb == "put" => enter(verb, rest).unwrap_or_else(other),
        verb if USES.contains(&verb) => {
            let rest = after(&["on ", "onto ", "to ", "in "]);
            if let (true, Some(url)) = (verb == "open", address(rest)) {
                return Clause::Visit(url);
            }
            if let (true, Some(keys)) = (matches!(verb, "press" | "hit" | "tap"), key(rest)) {
                return Clause::Key(keys);
            }
            let lower = rest.to_lowercase();
            let place = ["center", "centre", "middle"].iter().any(|word| lower.contains(word));
            if place && quoted(rest).is_none() {
                return Clause::Middle;
            }
            element(rest).map_or_else(other, Clause::Use)
        }
        _ => other(),
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
    let text = quoted(text).unwrap_or_else(|| text.trim().to_owned());
    let text = ["the text ", "the word ", "the "]
        .iter()
        .find_map(|it| strip(&text, it))
        .unwrap_or(&text)
        .to_owned();
    if text.is_empty() {
        return None;
    }
    Some(Clause::Enter { text, field: field.and_then(element) })
}

fn find_outside_quotes(lower: &str, text: &str, separator: &str) -> Option<usize> {
    lower.match_indices(separator).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).unwrap_or_default();
        before.matches('"').count() % 2 == 0
    })
}

/// The first quoted part of a text.
pub fn quoted(text: &str) -> Option<String> {
    for (open, close) in [('"', '"'), ('“', '”'), ('‘', '’'), ('\'', '\'')] {
        if let Some((_, rest)) = text.split_once(open)
            && let Some((inner, _)) = rest.split_once(close)
            && !inner.trim().is_empty()
        {
            return Some(inner.trim().to_owned());
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

/// An address or host.
pub fn address(text: &str) -> Option<String> {
    let word = text.split_whitespace().find(|word| {
        let host = word.split_once("://").map_or(*word, |(_, rest)| rest);
        let host = host.split(['/', ':', '?']).next().unwrap_or_default().trim_end_matches('.');
        let dotted = host.split('.').count() > 1
            && host.split('.').all(|part| {
                !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '-')
            })
            && host.split('.').next_back().is_some_and(|last| {
                last.len() >= 2 || host.split('.').all(|part| part.parse::<u8>().is_ok())
            });
        word.contains("://") || dotted || host == "localhost"
    })?;
    Some(
        word.trim_matches(['"', '\'', ',', ';', '(', ')', '“', '”'])
            .trim_end_matches('.')
            .to_owned(),
    )
}

/// A name as words in lower case.
pub fn words(name: &str) -> Vec<String> {
    let parts = name.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(name: &str, role: Option<&'static str>) -> Clause {
        let clause = Clause::Use(Element { name: name.to_owned(), role, whole: None });
        without_whole(clause)
    }

    fn without_whole(mut clause: Clause) -> Clause {
        if let Clause::Use(element) | Clause::Focus(element) = &mut clause {
            element.whole = None;
        }
        clause
    }

    fn entered(text: &str, field: Option<&str>) -> Clause {
        let field = field.map(|name| Element { name: name.to_owned(), role: None, whole: None });
        Clause::Enter { text: text.to_owned(), field }
    }

    #[test]
    fn an_instruction_is_split_where_a_new_verb_begins() {
        for (text, expected) in [
            ("Click Save", vec![used("Save", None)]),
            ("Please click on the \"Sign In\" button.", vec![used("Sign In", Some("button"))]),
            ("press the button called Send now", vec![used("Send now", Some("button"))]),
            ("Click Save and close", vec![used("Save", None), Clause::Close]),
            ("Click Terms and Conditions", vec![used("Terms and Conditions", None)]),
            ("Press Enter", vec![Clause::Key("Return".to_owned())]),
            ("press ctrl+shift+T", vec![Clause::Key("ctrl+shift+t".to_owned())]),
            ("Press New Tab", vec![used("New", Some("tab"))]),
            ("Click the center of the window", vec![Clause::Middle]),
            (
                "focus the URL bar",
                vec![Clause::Focus(Element {
                    name: "URL bar".to_owned(),
                    role: None,
                    whole: None,
                })],
            ),
            (
                "go to https://example.org/a.",
                vec![Clause::Visit("https://example.org/a".to_owned())],
            ),
            ("Open example.org", vec![Clause::Visit("example.org".to_owned())]),
            ("Scroll down", vec![Clause::Scroll]),
            ("Book me a flight", vec![Clause::Other("Book me a flight".to_owned())]),
        ] {
            let read: Vec<_> = clauses(text).into_iter().map(without_whole).collect();
            assert_eq!(read, expected, "{text}");
        }
        let both = clauses("Type \"Ann and Bob\" into Name, then click Submit");
        assert_eq!(both, [entered("Ann and Bob", Some("Name")), used("Submit", None)]);
        assert_eq!(clauses("fill in Name with Ann"), [entered("Ann", Some("Name"))]);
        assert_eq!(clauses("Type hello"), [entered("hello", None)]);
    }

    #[test]
    fn a_name_is_compared_by_its_words() {
        let save = Element { name: "save".to_owned(), role: None, whole: None };
        assert!(save.is("Save…") && !save.is("Save As") && !save.resembles("Save As"));
        assert!(save.resembles("The Save button"));
        let Some(Clause::Use(tab)) = clauses("Press New Tab").pop() else { panic!("no element") };
        assert!(
            tab.fits("New Tab", "button") && tab.fits("New", "tab") && !tab.fits("New", "button")
        );
        let bar = Element { name: "URL bar".to_owned(), role: None, whole: None };
        assert!(bar.is("Address and search bar"));
        assert!(!save.is("") && !save.resembles("…"));
    }

    #[test]
    fn nothing_is_read_into_strange_texts() {
        for text in [
            "",
            " ",
            "\"",
            "click",
            "click \"\"",
            "press",
            "type",
            "fill in",
            "ü, and ü",
            "set x to",
        ] {
            for clause in clauses(text) {
                assert!(!matches!(clause, Clause::Use(_) | Clause::Key(_)), "{text:?} {clause:?}");
            }
        }
    }
}
