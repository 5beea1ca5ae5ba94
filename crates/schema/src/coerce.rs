//! Converts text from queries, paths and command lines to JSON values.

use serde_json::Value;

use crate::Schema;

/// The value that a text means according to a schema.
pub fn coerce(whole: &Schema, schema: &Value, text: &str) -> Value {
    let schema = whole.resolve(schema);
    let parsed = || serde_json::from_str::<Value>(text).ok();
    let wants = |kind: &str| is(whole, schema, kind);
    if wants("string") {
        // A list is written as JSON, or as a single element.
        return match parsed() {
            Some(list @ Value::Array(_)) if wants("array") => list,
            _ => text.into(),
        };
    }
    let fits = |value: &Value| match value {
        Value::Bool(_) => wants("boolean"),
        Value::Number(_) => wants("integer") || wants("number"),
        Value::Array(_) => wants("array"),
        Value::Object(_) => wants("object"),
        Value::Null | Value::String(_) => false,
    };
    let anything =
        schema.as_bool() == Some(true) || schema.as_object().is_some_and(|it| it.is_empty());
    match parsed() {
        Some(value) if anything || fits(&value) => value,
        _ if wants("array") => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            let items = text.split(',').map(|item| coerce(whole, items, item.trim()));
            Value::Array(items.collect())
        }
        _ => text.into(),
    }
}

/// Whether the schema allows values of this kind.
fn is(whole: &Schema, schema: &Value, wanted: &str) -> bool {
    let schema = whole.resolve(schema);
    let list = |name: &str| schema.get(name).and_then(Value::as_array).into_iter().flatten();
    let by_type = match schema.get("type") {
        Some(Value::String(kind)) => kind == wanted,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        _ => false,
    };
    let text = || schema.get("const").into_iter().chain(list("enum")).any(Value::is_string);
    by_type
        || (wanted == "string" && text())
        || list("anyOf").chain(list("oneOf")).any(|choice| is(whole, choice, wanted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_becomes_what_the_schema_wants() {
        let schema = Schema::new(json!({
            "properties": {
                "wait": { "type": "boolean" },
                "tail": { "type": ["integer", "null"] },
                "label": { "type": "string" },
                "role": { "anyOf": [{ "$ref": "#/$defs/Role" }, { "type": "null" }] },
                "command": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] },
                "keys": { "type": "array", "items": { "type": "string" } },
                "env": { "type": "object" },
                "any": {},
            },
            "$defs": { "Role": { "enum": ["view", "control"] } },
        }))
        .unwrap();
        for (field, text, value) in [
            ("wait", "true", json!(true)),
            ("wait", "yes", json!("yes")),
            ("tail", "5", json!(5)),
            ("tail", "-5", json!(-5)),
            ("tail", "five", json!("five")),
            ("label", "5", json!("5")),
            ("label", "true", json!("true")),
            ("role", "view", json!("view")),
            ("command", "ls -l", json!("ls -l")),
            ("command", r#"["ls", "-l"]"#, json!(["ls", "-l"])),
            ("keys", "a, b", json!(["a", "b"])),
            ("env", r#"{"A": "b"}"#, json!({"A": "b"})),
            ("any", "[1]", json!([1])),
            ("unknown", "1", json!("1")),
        ] {
            assert_eq!(schema.coerce(field, text), value, "{field}={text}");
        }
    }
}
