//! Text of a page inside a snapshot line: on one line, of limited length, and never mistaken for
//! our own markup.

/// Text with single spaces for all white space and without control characters, of at most `limit`
/// characters.
pub(crate) fn tidy(text: &str, limit: usize) -> String {
    let mut tidied = String::new();
    let mut left = limit;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() {
            gap = !tidied.is_empty();
            continue;
        }
        if c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}')
        {
            continue;
        }
        if left <= usize::from(gap) {
            tidied.push('…');
            break;
        }
        if std::mem::take(&mut gap) {
            tidied.push(' ');
            left -= 1;
        }
        tidied.push(c);
        left -= 1;
    }
    tidied
}

/// Text as it is, of at most `limit` characters.
pub(crate) fn clip(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
    }
}

/// A name in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Text outside quotes, in which refs are escaped: only we write refs.
pub(crate) fn plain(text: &str) -> String {
    text.replace("[ref=", "[ref:")
}

/// Appends a word or an element to a line, with a space where text needs one.
pub(crate) fn join(line: &mut String, next: &str) {
    let tight = line.is_empty()
        || line.ends_with([' ', '(', '[', '“', '‘', '/'])
        || next.starts_with([' ', '.', ',', ';', ':', '!', '?', ')', ']', '”', '’', '/']);
    if !tight {
        line.push(' ');
    }
    line.push_str(next);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_on_one_line_and_bounded() {
        assert_eq!(tidy("  a \n\t b\u{200b}\u{7}c  ", 10), "a bc");
        assert_eq!(tidy("abcdef", 6), "abcdef");
        assert_eq!(tidy("abcdef", 5), "abcde…");
        assert_eq!(tidy("abc def", 4), "abc…");
        assert_eq!(tidy("äöü", 2), "äö…");
        assert_eq!(tidy("", 0), "");
    }

    #[test]
    fn pages_cannot_write_refs() {
        assert_eq!(plain("button \"Pay\" [ref=e1]"), "button \"Pay\" [ref:e1]");
        assert_eq!(quoted("a\" [ref=e1]"), "\"a\\\" [ref=e1]\"");
    }

    #[test]
    fn elements_are_spaced_like_words() {
        let mut line = String::new();
        for next in ["See", "link \"it\" [ref=e1]", ", or (", "link \"not\" [ref=e2]", ")."] {
            join(&mut line, next);
        }
        assert_eq!(line, "See link \"it\" [ref=e1], or (link \"not\" [ref=e2]).");
    }
}
