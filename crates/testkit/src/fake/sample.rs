//! Generates sample values for schemas.

use regex_lite::Regex;
use serde_json::{Map, Value, json};

/// Deeper than any value of the API. Recursive schemas end here.
const MAX_DEPTH: usize = 12;
/// Strings to try for a pattern.
const STRINGS: [&str; 11] = [
    "sample",
    "1",
    "en",
    "512m",
    "800x600",
    "Etc/UTC",
    "localhost:8000",
    "http://localhost:8000",
    "https://example.com",
    "crop-1-after",
    "shot-1",
];

/// The smallest value that a schema allows: required properties only, and the fewest items.
pub fn sample(document: &Value, schema: &Value) -> Value {
    of(document, schema, 0)
}

fn of(document: &Value, schema: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    if let Some(name) = schema["$ref"].as_str() {
        let pointer = name.trim_start_matches('#');
        let target = document.pointer(pointer).unwrap_or_else(|| panic!("{name} exists"));
        return of(document, target, depth + 1);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(value) = schema["enum"].get(0).or(schema["examples"].get(0)) {
        return value.clone();
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut whole = Map::new();
        for part in parts.iter().map(|part| of(document, part, depth + 1)) {
            match part {
                Value::Object(part) => whole.extend(part),
                other => return other,
            }
        }
        return Value::Object(whole);
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let chosen = choices.iter().find(|choice| choice["type"] != "null");
            return of(document, chosen.unwrap_or(&Value::Null), depth + 1);
        }
    }
    match kind(schema) {
        "object" => object(document, schema, depth),
        "array" => {
            let fewest = schema["minItems"].as_u64().unwrap_or(0);
            (0..fewest).map(|_| of(document, &schema["items"], depth + 1)).collect()
        }
        "string" => string(schema),
        "integer" => json!(number(schema, 1.0).ceil() as i64),
        "number" => json!(number(schema, 0.5)),
        "boolean" => json!(true),
        _ => Value::Null,
    }
}

/// The schema's type. Of several, the first that is not null.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ => "null",
    }
}

fn object(document: &Value, schema: &Value, depth: usize) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let fields = required.map(|name| {
        let property = &schema["properties"][name];
        (name.to_owned(), of(document, property, depth + 1))
    });
    Value::Object(fields.collect())
}

fn string(schema: &Value) -> Value {
    if schema["format"] == "date-time" {
        return json!("2026-01-02T03:04:05Z");
    }
    let fits = |text: &&&str| match schema["pattern"].as_str() {
        Some(pattern) => Regex::new(pattern).expect("a pattern").is_match(text),
        None => true,
    };
    let Some(text) = STRINGS.iter().find(fits) else {
        panic!("no sample for {schema}: add a string to STRINGS");
    };
    let length = |bound: &str| schema[bound].as_u64().map(|length| length as usize);
    let text: String = text.chars().take(length("maxLength").unwrap_or(usize::MAX)).collect();
    let missing = length("minLength").unwrap_or(0).saturating_sub(text.len());
    json!(text + &"x".repeat(missing))
}

/// `wanted` if the bounds allow it, otherwise another number within them.
fn number(schema: &Value, wanted: f64) -> f64 {
    let bound = |name: &str| schema[name].as_f64();
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|bound| bound + 1.0));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|bound| bound - 1.0));
    wanted.max(least.unwrap_or(f64::MIN)).min(most.unwrap_or(f64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_what_is_required_within_its_bounds() {
        let document =
            json!({ "schemas": { "Size": { "type": "string", "pattern": "^[0-9]+x[0-9]+$" } } });
        let schema = json!({
            "type": "object",
            "required": ["size", "count", "kind", "many", "maybe"],
            "properties": {
                "size": { "$ref": "#/schemas/Size" },
                "count": { "type": "integer", "minimum": 3 },
                "kind": { "oneOf": [{ "type": "null" }, { "const": "a" }] },
                "many": { "type": "array", "minItems": 2, "items": { "type": "boolean" } },
                "maybe": { "type": ["null", "number"], "maximum": 0.25 },
                "more": { "type": "string" },
            },
        });
        let expected = json!({
            "size": "800x600", "count": 3, "kind": "a", "many": [true, true], "maybe": 0.25,
        });
        assert_eq!(sample(&document, &schema), expected);
    }
}
