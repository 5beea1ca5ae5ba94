//! Character references: `&amp;`, `&#8212;`, `&nbsp;`.

/// The named ones that documents use.
const NAMED: [(&str, &str); 44] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", "\u{a0}"),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("bull", "•"),
    ("middot", "·"),
    ("euro", "€"),
    ("pound", "£"),
    ("yen", "¥"),
    ("cent", "¢"),
    ("deg", "°"),
    ("plusmn", "±"),
    ("times", "×"),
    ("divide", "÷"),
    ("frac12", "½"),
    ("micro", "µ"),
    ("para", "¶"),
    ("sect", "§"),
    ("larr", "←"),
    ("rarr", "→"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("Auml", "Ä"),
    ("Ouml", "Ö"),
    ("Uuml", "Ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
    ("egrave", "è"),
    ("shy", ""),
];
/// Longest reference.
const MAX: usize = 12;

/// A text with its references replaced. Unknown ones stay as they are.
pub fn decode(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        decoded += before;
        let end = from.char_indices().take(MAX).find(|(_, c)| *c == ';').map(|(at, _)| at);
        let replaced = end.and_then(|end| reference(from.get(1..end)?).map(|text| (text, end)));
        match replaced {
            Some((text, end)) => {
                decoded += &text;
                rest = from.get(end + 1..).unwrap_or_default();
            }
            None => {
                decoded.push('&');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    decoded + rest
}

fn reference(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return Some(char::from_u32(code).unwrap_or('\u{fffd}').to_string());
    }
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_once_and_unknown_ones_stay() {
        assert_eq!(decode("a &amp;lt; b &#65;&#x42; &mdash;"), "a &lt; b AB —");
        assert_eq!(decode("AT&T &unknown; & &#x11ffff; &"), "AT&T &unknown; & \u{fffd} &");
    }
}
