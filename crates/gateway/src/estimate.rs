//! Estimates tokens, for budgets before a call and for calls whose provider does not count.

use serde_json::Value;

use crate::Body;

/// Bytes of text for a token.
const BYTES: u64 = 4;
/// Tokens of a picture: the most that a vendor counts for one, which is Claude 4.7 and later.
const PICTURE: u64 = 4784;
/// Tokens of a message beyond its text.
const PER_OBJECT: u64 = 3;
/// Base64 that is shorter than this counts as text.
const LEAST_PICTURE: usize = 256;
/// Tokens of an answer that are reserved if the client sets no limit.
const USUAL_OUTPUT: u64 = 4096;
/// Limits of what is reserved, so that sums stay numbers. Providers refuse more.
const MOST_RESERVED: u64 = 1 << 32;
const MOST_ANSWERS: u64 = 1 << 10;
/// Fields of a request with what a model reads.
const READ: [&str; 7] =
    ["messages", "input", "system", "instructions", "tools", "contents", "systemInstruction"];
/// Fields that limit an answer.
const LIMITS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// Tokens of a text with this many bytes.
pub fn of_bytes(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES)
}

/// Tokens of a text.
pub fn of_text(text: &str) -> u64 {
    of_bytes(text.len())
}

/// Tokens of what the model reads.
pub fn of_input(body: &Body) -> u64 {
    READ.iter().filter_map(|name| body.value(name)).map(|it| of_value(&it)).sum()
}

/// Most tokens that a call can write. `most` is what answers of the model can have at most.
pub fn of_answers(body: &Body, most: Option<u64>) -> u64 {
    // Gemini has its limits inside of an object.
    let config = body.value("generationConfig").unwrap_or_default();
    let count = |name: &str, nested: &str| {
        body.value(name).or_else(|| config.get(nested).cloned()).and_then(|it| it.as_u64())
    };
    let limit = LIMITS.iter().find_map(|name| count(name, "maxOutputTokens"));
    let limit = limit
        .map_or(USUAL_OUTPUT.min(most.unwrap_or(USUAL_OUTPUT)), |limit| limit.min(MOST_RESERVED));
    let answers = count("n", "candidateCount").unwrap_or(1).clamp(1, MOST_ANSWERS);
    limit.saturating_mul(answers)
}

/// Tokens of a value: all its texts, with pictures at a flat rate.
fn of_value(value: &Value) -> u64 {
    match value {
        Value::String(text) if is_picture(text) => PICTURE,
        Value::String(text) => of_text(text),
        Value::Array(items) => items.iter().map(of_value).sum(),
        Value::Object(fields) => {
            let names = fields.keys().map(|name| of_text(name) / 4).sum::<u64>();
            names + PER_OBJECT + fields.iter().map(|(name, it)| of_field(name, it)).sum::<u64>()
        }
        Value::Number(_) | Value::Bool(_) | Value::Null => 1,
    }
}

/// Tokens of a field. The provider itself gets pictures that are sent by their address.
fn of_field(name: &str, value: &Value) -> u64 {
    let has_address = value.is_string() || value.get("url").is_some_and(Value::is_string);
    let is_address = match name {
        "image_url" | "file_url" | "fileUri" => has_address,
        "source" => value.get("type").and_then(Value::as_str) == Some("url"),
        _ => false,
    };
    if is_address { PICTURE } else { of_value(value) }
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

    fn body(value: &Value) -> Body {
        Body::parse(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_picture_counts_the_same_whatever_its_size() {
        let message = |data: &str| {
            of_input(&body(&json!({ "messages": [{ "role": "user", "content": data }] })))
        };
        let small = message(&"A".repeat(400));
        assert_eq!(small, message(&"A".repeat(4_000_000)));
        assert!((PICTURE..PICTURE + 50).contains(&small), "{small}");
        let text = message(&"a word ".repeat(1000));
        assert!((1700..1850).contains(&text), "{text}");
    }

    #[test]
    fn a_picture_counts_as_much_as_any_vendor_counts_and_also_by_its_address() {
        use helmdeck_wire::vendor_size::{GEMINI_3_TOKENS, Vendor};
        let vendors = [Vendor::Anthropic, Vendor::AnthropicHigh, Vendor::Openai, Vendor::Gemini];
        for vendor in vendors {
            assert!(u64::from(vendor.tokens(7680, 4320)) <= PICTURE, "{vendor:?}");
        }
        assert!(u64::from(GEMINI_3_TOKENS) <= PICTURE);
        let url = "https://a.example/b.png";
        for part in [
            json!({ "type": "image_url", "image_url": { "url": url } }),
            json!({ "type": "input_image", "image_url": url }),
            json!({ "type": "image", "source": { "type": "url", "url": url } }),
            json!({ "fileData": { "fileUri": url } }),
        ] {
            let counted = of_input(&body(&json!({ "input": [part] })));
            assert!((PICTURE..PICTURE + 50).contains(&counted), "{counted}");
        }
        let schema = json!({ "tools": [{ "properties": { "image_url": { "type": "string" } } }] });
        assert!(of_input(&body(&schema)) < 50);
    }

    #[test]
    fn the_limit_of_an_answer_is_read_in_every_family() {
        for limited in [
            json!({ "max_tokens": 50 }),
            json!({ "max_completion_tokens": 50 }),
            json!({ "max_output_tokens": 50 }),
            json!({ "generationConfig": { "maxOutputTokens": 50 } }),
        ] {
            assert_eq!(of_answers(&body(&limited), Some(10_000)), 50, "{limited}");
        }
        let several = json!({ "generationConfig": { "maxOutputTokens": 50, "candidateCount": 3 } });
        assert_eq!(of_answers(&body(&several), None), 150);
        assert_eq!(of_answers(&body(&json!({})), None), USUAL_OUTPUT);
        assert_eq!(of_answers(&body(&json!({})), Some(100)), 100);
    }
}
