//! Selectors: how an element is addressed.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An element of a page, searched in all frames and open shadow roots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// A CSS selector.
    Css(String),
    /// Visible text: `text=Sign in` matches a part of it, ignoring case; `text="Sign in"` matches
    /// all of it.
    Text {
        /// The text.
        text: String,
        /// Whether the whole text must match.
        exact: bool,
    },
    /// An accessibility role and name: `role=button[name="Save"]`. The name ignores case.
    /// `role=button` matches any name.
    Role {
        /// The role: button, link, textbox, …
        role: String,
        /// The name; any if absent.
        name: Option<String>,
    },
    /// An element of a snapshot: `ref=e12`.
    Ref(String),
}

impl Selector {
    const MAX: usize = 10_000;

    /// Parses a selector as clients write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err(
                "a selector cannot be empty: expected CSS, text=…, role=… or ref=…".to_owned()
            );
        }
        if text.len() > Self::MAX {
            return Err(format!("a selector cannot be longer than {} bytes", Self::MAX));
        }
        if let Some(rest) = text.strip_prefix("text=") {
            let exact = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            return named(exact.unwrap_or(rest), "text=Sign in")
                .map(|text| Self::Text { text, exact: exact.is_some() });
        }
        if let Some(rest) = text.strip_prefix("ref=") {
            return named(rest, "ref=e12").map(Self::Ref);
        }
        let Some(rest) = text.strip_prefix("role=") else {
            return Ok(Self::Css(text.strip_prefix("css=").unwrap_or(text).to_owned()));
        };
        let (role, name) = match rest.split_once('[') {
            None => (rest, None),
            Some((role, rest)) => {
                let name =
                    rest.strip_suffix(']').and_then(|rest| rest.trim().strip_prefix("name="));
                let quoted = |name: &'_ str| {
                    let quote = name.chars().next().filter(|c| "\"'".contains(*c))?;
                    name.strip_prefix(quote)?.strip_suffix(quote).map(str::to_owned)
                };
                let name = name.ok_or("expected role=button[name=\"Save\"]")?.trim();
                (role, Some(quoted(name).unwrap_or_else(|| name.to_owned())))
            }
        };
        named(role, "role=button").map(|role| Self::Role { role: role.to_ascii_lowercase(), name })
    }
}

fn named(text: &str, example: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err(format!("expected {example}")) } else { Ok(text.to_owned()) }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Css(css) => f.write_str(css),
            Self::Text { text, exact: false } => write!(f, "text={text}"),
            Self::Text { text, exact: true } => write!(f, "text=\"{text}\""),
            Self::Role { role, name: None } => write!(f, "role={role}"),
            Self::Role { role, name: Some(name) } => write!(f, "role={role}[name=\"{name}\"]"),
            Self::Ref(name) => write!(f, "ref={name}"),
        }
    }
}

impl Serialize for Selector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Selector {
    fn schema_name() -> Cow<'static, str> {
        "Selector".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": Self::MAX,
            "description": "An element: CSS (`#id`), `text=Sign in` (a part of its visible text, \
                ignoring case; the whole text with quotes), `role=button[name=\"Save\"]`, or `ref=e12` of a \
                snapshot. Searched in all frames and open shadow roots.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_name_an_element_is_read_and_written() {
        let role = |name: Option<&str>| Selector::Role {
            role: "button".into(),
            name: name.map(Into::into),
        };
        let text = |exact| Selector::Text { text: "Sign in".into(), exact };
        for (written, selector) in [
            ("#a > b[c='d']", Selector::Css("#a > b[c='d']".into())),
            ("text=Sign in", text(false)),
            ("text=\"Sign in\"", text(true)),
            ("role=button", role(None)),
            ("role=button[name=\"Save all\"]", role(Some("Save all"))),
            ("ref=e12", Selector::Ref("e12".into())),
        ] {
            assert_eq!(Selector::parse(written).as_ref(), Ok(&selector));
            assert_eq!(selector.to_string(), written);
        }
        assert_eq!(Selector::parse(" role=Button[name='Save'] "), Ok(role(Some("Save"))));
        assert_eq!(Selector::parse("role=button[name=Save]"), Ok(role(Some("Save"))));
        assert_eq!(Selector::parse("css=a"), Ok(Selector::Css("a".into())));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in ["", " ", "text=", "ref=", "role=", "role=button[x]", "role=[name=a]"] {
            assert!(Selector::parse(bad).is_err(), "{bad:?}");
        }
    }
}
