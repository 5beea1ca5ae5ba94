//! `${vault:NAME}` in texts. Pure.

use std::fmt::Write;

const START: &str = "${vault:";

/// How a secret is written in place of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As it is: in headers and bodies.
    Plain,
    /// Percent-encoded: in a URL, whose structure it cannot change.
    Url,
}

impl Encoding {
    pub(super) fn encode(self, secret: &str) -> String {
        let mut text = String::with_capacity(secret.len());
        for byte in secret.bytes() {
            let kept = byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
            match self {
                Self::Plain => return secret.to_owned(),
                Self::Url if kept => text.push(char::from(byte)),
                // Writing to a String cannot fail.
                Self::Url => drop(write!(text, "%{byte:02X}")),
            }
        }
        text
    }
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// The parts of a text. What only looks like a placeholder is text.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut plain) = (text, 0);
    let mut at = 0;
    while let Some(found) = rest.find(START) {
        let name_at = at + found + START.len();
        let inside = text.get(name_at..).unwrap_or_default();
        let name = inside.split('}').next().unwrap_or_default();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let closed = inside.len() > name.len();
        if closed && !name.is_empty() && name.chars().all(is_name) {
            parts.extend(text.get(plain..at + found).filter(|it| !it.is_empty()).map(Part::Text));
            parts.push(Part::Name(name));
            plain = name_at + name.len() + 1;
            at = plain;
        } else {
            at = name_at;
        }
        rest = text.get(at..).unwrap_or_default();
    }
    parts.extend(text.get(plain..).filter(|it| !it.is_empty()).map(Part::Text));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_other_text_is_kept() {
        use Part::{Name, Text};
        assert_eq!(
            parts("Bearer ${vault:github-token}, ${vault:a.b_c}!"),
            [Text("Bearer "), Name("github-token"), Text(", "), Name("a.b_c"), Text("!")]
        );
        assert_eq!(parts("${vault:a}${vault:b}"), [Name("a"), Name("b")]);
        for plain in ["", "x", "${vault:}", "${vault:a b}", "${vault:a", "$${vaul:a}", "${env:a}"] {
            let expected: Vec<_> =
                Some(Text(plain)).filter(|_| !plain.is_empty()).into_iter().collect();
            assert_eq!(parts(plain), expected, "{plain}");
        }
        assert_eq!(parts("${vault:${vault:a}}"), [Text("${vault:"), Name("a"), Text("}")]);
        assert_eq!(parts("ä${vault:a}ö"), [Text("ä"), Name("a"), Text("ö")]);
    }

    #[test]
    fn a_secret_does_not_change_the_structure_of_a_url() {
        assert_eq!(Encoding::Url.encode("12:Ab/../?#@x y"), "12:Ab%2F..%2F%3F%23%40x%20y");
        assert_eq!(Encoding::Plain.encode("a/b c"), "a/b c");
    }
}
