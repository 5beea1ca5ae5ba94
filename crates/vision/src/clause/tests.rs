//! What is read into instructions, and what is not.
#![allow(clippy::panic, reason = "a test may")]

use super::*;

fn used(name: &str, role: Option<&'static str>) -> Clause {
    by(Gesture::Click, name, role)
}

fn by(gesture: Gesture, name: &str, role: Option<&'static str>) -> Clause {
    Clause::Use { element: Element { name: name.to_owned(), role, whole: None }, gesture }
}

fn check(name: &str, role: Option<&'static str>, on: bool) -> Clause {
    Clause::Check { element: Element { name: name.to_owned(), role, whole: None }, on }
}

fn without_whole(mut clause: Clause) -> Clause {
    if let Clause::Use { element, .. } | Clause::Check { element, .. } | Clause::Focus(element) =
        &mut clause
    {
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
        ("Click Save and close", vec![used("Save", None), Clause::Other("close".to_owned())]),
        ("Click Terms and Conditions", vec![used("Terms and Conditions", None)]),
        ("Press Enter", vec![Clause::Key("Return".to_owned())]),
        ("press ctrl+shift+T", vec![Clause::Key("ctrl+shift+t".to_owned())]),
        ("Press New Tab", vec![used("New", Some("tab"))]),
        ("Click the center of the window", vec![Clause::Middle]),
        (
            "focus the URL bar",
            vec![Clause::Focus(Element { name: "URL bar".to_owned(), role: None, whole: None })],
        ),
        ("go to https://example.org/a.", vec![Clause::Visit("https://example.org/a".to_owned())]),
        ("Open example.org", vec![Clause::Visit("example.org".to_owned())]),
        ("Scroll down", vec![Clause::Scroll(Some(Direction::Down))]),
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
    let Some(Clause::Use { element: tab, .. }) = clauses("Press New Tab").pop() else {
        panic!("no element")
    };
    assert!(tab.fits("New Tab", "button") && tab.fits("New", "tab") && !tab.fits("New", "button"));
    let bar = Element { name: "URL bar".to_owned(), role: None, whole: None };
    assert!(bar.is("Address and search bar"));
    assert!(!save.is("") && !save.resembles("…"));
}

#[test]
fn nothing_is_read_into_strange_texts() {
    for text in
        ["", " ", "\"", "click", "click \"\"", "press", "type", "fill in", "ü, and ü", "set x to"]
    {
        for clause in clauses(text) {
            assert!(!matches!(clause, Clause::Use { .. } | Clause::Key(_)), "{text:?} {clause:?}");
        }
    }
}

#[test]
fn the_verb_says_how_an_element_is_used() {
    for (text, expected) in [
        ("Double-click \"File\"", by(Gesture::Double, "File", None)),
        ("double click File", by(Gesture::Double, "File", None)),
        ("Right-click \"Photo\"", by(Gesture::Right, "Photo", None)),
        ("Open the \"File\" menu", by(Gesture::Open, "File", None)),
        ("Choose \"Blue\"", by(Gesture::Select, "Blue", None)),
        ("Check the \"Accept\" checkbox", check("Accept", Some("checkbox"), true)),
        ("Uncheck Newsletter", check("Newsletter", None, false)),
        ("Turn off \"Wi-Fi\"", check("Wi-Fi", None, false)),
        ("Switch on the \"Fan\" switch", check("Fan", Some("switch"), true)),
        ("Scroll up a bit", Clause::Scroll(Some(Direction::Up))),
        ("Scroll", Clause::Scroll(None)),
        ("Close this tab", Clause::Close(Closed::Tab)),
        ("Close the window", Clause::Close(Closed::Window)),
        ("Click the button that says \"Save\"", used("Save", Some("button"))),
        ("Press the button labelled \"Send\" now", used("Send", Some("button"))),
        ("Select the option \"Blue\"", by(Gesture::Select, "Blue", None)),
    ] {
        assert_eq!(clauses(text).into_iter().map(without_whole).collect::<Vec<_>>(), [expected]);
    }
}

#[test]
fn a_part_that_says_more_than_can_be_checked_is_never_cut() {
    for text in [
        "Click \"Pay\" if the total is below 10",
        "Click \"Pay\", if the total is below 10",
        "Click \"Delete\" in the row \"Bob\"",
        "Click “Delete” in the row “Bob”",
        "Click 'Delete' in the row \"Bob\"",
        "Click \"Delete\" and \"Send\"",
        "Click \"Up\" twice",
        "Click the second \"Save\"",
        "Click everything but \"Save\"",
        "Check the price of \"Apple\"",
        "Focus the last field of \"Address\"",
        "Put the cursor after the first word in \"Name\"",
        "Type \"Ann\" into \"Name\" if it is empty",
        "Type \"Ann\" twice into \"Name\"",
        "Go to news.test and tell me what is new",
        "Open news.test in a new tab",
        "Click the middle of the map",
        "Click the middle of the screen",
        "Scroll down to the footer",
        "Close the calculator",
        "Close all windows",
        "Triple-click \"Name\"",
        "Do not click \"Pay\"",
        "Never press Enter",
    ] {
        let read = clauses(text);
        let cut = |clause: &Clause| match clause {
            // No element has such a name.
            Clause::Use { element, .. } => !element.name.contains(' '),
            Clause::Other(_) => false,
            _ => true,
        };
        assert!(!read.is_empty() && !read.iter().any(cut), "{text}: {read:?}");
    }
    assert_eq!(clauses("Type \"the cat\""), [entered("the cat", None)]);
    assert!(matches!(clauses("Type I don't know into Notes").as_slice(), [Clause::Enter { .. }]));
}
