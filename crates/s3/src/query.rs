//! Queries in the form that is signed: encoded, and sorted by name.

use std::fmt::Write;

/// A query. Names need no encoding.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let mut pairs: Vec<_> =
        pairs.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    pairs.sort_unstable();
    pairs.join("&")
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_sorted_and_encoded() {
        assert_eq!(
            query(&[("b", "x y/+="), ("a", "é"), ("c", "")]),
            "a=%C3%A9&b=x%20y%2F%2B%3D&c="
        );
    }
}
