//! Estimates tokens, for budgets before a call and for calls whose provider does not count.

use serde_json::Value;

/// Bytes of text for a token.
const BYTES: u64 = 4;
/// Tokens of a picture: about the most that vendors count for one.
const PICTURE: u64 = 1600;
/// Tokens of a message beyond its text.
const PER_OBJECT: u64 = 3;
/// Base64 that is shorter than this counts as text.
const LEAST_PICTURE: usize = 256;

/// Tokens of a text with this many bytes.
pub fn of_bytes(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES)
}

/// Tokens of a text.
pub fn of_text(text: &str) -> u64 {
    of_bytes(text.len())
}

/// Tokens of a request: all its texts, with pictures at a flat rate.
pub fn of_request(body: &Value) -> u64 {
    match body {
        Value::String(text) if is_picture(text) => PICTURE,
        Value::String(text) => of_text(text),
        Value::Array(items) => items.iter().map(of_request).sum(),
        Value::Object(fields) => {
            let names = fields.keys().map(|name| of_text(name) / 4).sum::<u64>();
            names + PER_OBJECT + fields.values().map(of_request).sum::<u64>()
        }
        Value::Number(_) | Value::Bool(_) | Value::Null => 1,
    }
}

fn is_picture(text: &str) -> bool {
    if text.starts_with("data:") {
        return true;
    }
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
    text.len() >= LEAST_PICTURE && text.bytes().all(base64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_picture_counts_the_same_whatever_its_size() {
        let message = |data: &str| json!({ "messages": [{ "role": "user", "content": data }] });
        let small = of_request(&message(&"A".repeat(400)));
        let large = of_request(&message(&"A".repeat(4_000_000)));
        assert_eq!(small, large);
        assert!((PICTURE..PICTURE + 50).contains(&small), "{small}");
        let text = of_request(&message(&"a word ".repeat(1000)));
        assert!((1700..1850).contains(&text), "{text}");
    }
}
