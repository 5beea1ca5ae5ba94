//! Whether what is under a point is what a caller believes.

use helmdeck_wire::aim::{Expect, Hit, Source};

use crate::{matching::normal, role};

/// The first expectation that does not hold: the field, what was expected, and what is there.
/// `selected` states whether the element matches the selector, if that was asked.
pub fn mismatch(expect: &Expect, hit: &Hit, selected: Option<bool>) -> Option<String> {
    let folded = |text: &str| normal(text).to_lowercase();
    let value = hit.value.as_deref().unwrap_or_default();
    let (title, url) = (hit.window.as_deref(), hit.url.as_deref());
    let part = |of: &str, wanted: &str| folded(of).contains(&folded(wanted));
    let said = |field: &str, wanted: &str, there: &str| {
        let there = if there.is_empty() { "nothing".to_owned() } else { format!("{there:?}") };
        format!("{field} is {there}, not {wanted:?}")
    };
    if let Some(wanted) = &expect.role
        && !role::is(&hit.role, wanted)
    {
        return Some(said("role", wanted, &hit.role));
    }
    if let Some(wanted) = &expect.name
        && folded(&hit.name) != folded(wanted)
    {
        return Some(said("name", wanted, &hit.name));
    }
    if let Some(wanted) = &expect.text
        && !part(&hit.name, wanted)
        && !part(value, wanted)
    {
        return Some(said("text", wanted, &hit.name));
    }
    if let Some(wanted) = &expect.window
        && !title.is_some_and(|title| part(title, wanted))
    {
        return Some(said("window", wanted, title.unwrap_or_default()));
    }
    if let Some(wanted) = &expect.url
        && !url.is_some_and(|url| url.contains(wanted))
    {
        return Some(said("url", wanted, url.unwrap_or_default()));
    }
    if let Some(wanted) = &expect.selector
        && selected != Some(true)
    {
        return Some(said("selector", wanted, hit.selector.as_deref().unwrap_or_default()));
    }
    // Nothing is known of what only its window tells.
    let known = hit.source != Source::Window || !hit.role.is_empty();
    let is = |state: &str| hit.states.iter().any(|known| known == state);
    let states = [
        ("enabled", expect.enabled, !is("disabled")),
        ("focused", expect.focused, is("focused")),
        ("checked", expect.checked, is("checked") || is("selected") || is("pressed")),
    ];
    let mut asked =
        states.into_iter().filter_map(|(field, wanted, now)| Some((field, wanted?, now)));
    if !known {
        return asked.next().map(|(field, ..)| format!("whether it is {field} is not known"));
    }
    let wrong = asked.find(|(_, wanted, now)| wanted != now);
    wrong.map(|(field, wanted, now)| format!("{field} is {now}, not {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let hit = Hit {
            role: "button".to_owned(),
            name: "Save  file".to_owned(),
            window: Some("Editor".to_owned()),
            states: vec!["disabled".to_owned()],
            ..Hit::default()
        };
        let text = |text: &str| Some(text.to_owned());
        let wrong = |expect: Expect| mismatch(&expect, &hit, None);
        assert_eq!(wrong(Expect::default()), None);
        let right = Expect {
            role: text("push button"),
            name: text("save file"),
            text: text("file"),
            window: text("edit"),
            enabled: Some(false),
            checked: Some(false),
            ..Expect::default()
        };
        assert_eq!(wrong(right), None);
        let name = Expect { name: text("Save"), ..Expect::default() };
        assert_eq!(wrong(name).unwrap(), "name is \"Save  file\", not \"Save\"");
        let url = Expect { url: text("example"), ..Expect::default() };
        assert_eq!(wrong(url).unwrap(), "url is nothing, not \"example\"");
        let enabled = Expect { enabled: Some(true), ..Expect::default() };
        assert_eq!(wrong(enabled).unwrap(), "enabled is false, not true");
        let checked = Expect { checked: Some(true), ..Expect::default() };
        assert_eq!(wrong(checked).unwrap(), "checked is false, not true");
        let selector = Expect { selector: text("#a"), ..Expect::default() };
        assert!(mismatch(&selector, &hit, Some(true)).is_none() && wrong(selector).is_some());
    }

    #[test]
    fn a_state_that_is_not_known_satisfies_no_expectation() {
        let terminal = Hit { window: Some("xterm".to_owned()), ..Hit::default() };
        for enabled in [true, false] {
            let expect = Expect { enabled: Some(enabled), ..Expect::default() };
            let said = mismatch(&expect, &terminal, None).unwrap();
            assert_eq!(said, "whether it is enabled is not known");
        }
        let window = Expect { window: Some("xterm".to_owned()), ..Expect::default() };
        assert_eq!(mismatch(&window, &terminal, None), None);
    }
}
