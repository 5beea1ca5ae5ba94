//! Schemas in a form that client generators understand.
//!
//! The validator uses the same form, so that the documentation matches what is enforced.
//!
//! schemars describes a documented enum as `oneOf` of `const`, and a value of any type as `true`.
//! Both are valid JSON Schema, but many generators reject them or create one class per value.

use schemars::{
    Schema,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};

/// Rewrites a schema and all nested schemas.
#[derive(Debug, Clone, Copy)]
pub struct ForClients;

impl Transform for ForClients {
    fn transform(&mut self, schema: &mut Schema) {
        if schema.as_bool() == Some(true) {
            *schema = Schema::default();
        }
        transform_subschemas(self, schema);
        if let Some(object) = schema.as_object_mut() {
            flatten_enum(object);
            bound_integer(object);
        }
    }
}

/// The largest integer that every JSON parser reads exactly.
const EXACT: i64 = (1 << 53) - 1;

/// Removes annotations that only the validator reads.
pub fn without_notes(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|key, _| !NOTES.contains(&key.as_str()));
            object.values_mut().for_each(without_notes);
        }
        Value::Array(items) => items.iter_mut().for_each(without_notes),
        _ => {}
    }
}

const NOTES: [&str; 5] = ["x-error", "x-missing", "x-expected", "x-secret", "x-aliases"];

/// Adds the bounds of its format to an integer: `uint32` is at most 4294967295.
fn bound_integer(schema: &mut Map<String, Value>) {
    let (min, max) = match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => (json!(0), json!(u8::MAX)),
        Some("uint16") => (json!(0), json!(u16::MAX)),
        Some("uint32") => (json!(0), json!(u32::MAX)),
        Some("uint64" | "uint") => (json!(0), json!(EXACT)),
        Some("int32") => (json!(i32::MIN), json!(i32::MAX)),
        Some("int64" | "int") => (json!(-EXACT), json!(EXACT)),
        _ => return,
    };
    schema.entry("minimum").or_insert(min);
    schema.entry("maximum").or_insert(max);
}

/// Turns `oneOf` of `const` strings into one `enum`. The meanings of the values move to the
/// description.
fn flatten_enum(schema: &mut Map<String, Value>) {
    let Some(variants) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let values: Option<Vec<&str>> =
        variants.iter().map(|variant| variant.get("const").and_then(Value::as_str)).collect();
    let Some(values) = values else { return };
    let own = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let meanings = values.iter().zip(variants).filter_map(|(value, variant)| {
        let meaning = variant.get("description")?.as_str()?.replace('\n', " ");
        Some(format!("- `{value}`: {meaning}"))
    });
    let list = meanings.collect::<Vec<_>>().join("\n");
    let description = [own, list.as_str()].map(str::trim).join("\n\n").trim().to_owned();
    let values = json!(values);
    schema.remove("oneOf");
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), values);
    if !description.is_empty() {
        schema.insert("description".to_owned(), json!(description));
    }
}

/// The schema of a query parameter, which may be absent but not null.
pub fn without_null(mut schema: Value) -> Value {
    let Some(object) = schema.as_object_mut() else { return schema };
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(types) = object.get_mut("type").filter(|types| types.is_array()) {
        *types = one_of(types, &json!("null"));
    }
    let Some(choices) = object.get("anyOf") else { return schema };
    match one_of(choices, &json!({ "type": "null" })) {
        Value::Object(only) => {
            object.remove("anyOf");
            object.extend(only);
        }
        several => {
            object.insert("anyOf".to_owned(), several);
        }
    }
    schema
}

/// The elements of an array other than `null`; the element itself if only one is left.
fn one_of(choices: &Value, null: &Value) -> Value {
    let choices = choices.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut left: Vec<_> = choices.iter().filter(|choice| *choice != null).cloned().collect();
    match left.len() {
        1 => left.remove(0),
        _ => left.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_documented_enum_is_one_enum_with_its_meanings_in_the_description() {
        let mut schema = schemars::json_schema!({
            "description": "A colour.",
            "oneOf": [
                { "type": "string", "const": "red", "description": "Like\nfire." },
                { "type": "string", "const": "blue" },
            ],
        });
        ForClients.transform(&mut schema);
        assert_eq!(
            schema.to_value(),
            json!({
                "type": "string",
                "enum": ["red", "blue"],
                "description": "A colour.\n\n- `red`: Like fire.",
            })
        );
    }

    #[test]
    fn choices_between_objects_stay_and_any_value_is_an_empty_schema() {
        let mut schema = schemars::json_schema!({
            "properties": { "any": true, "either": { "oneOf": [{ "const": "a" }, { "type": "object" }] } },
            "additionalProperties": false,
        });
        ForClients.transform(&mut schema);
        assert_eq!(
            schema.to_value(),
            json!({
                "properties": { "any": {}, "either": { "oneOf": [{ "const": "a" }, { "type": "object" }] } },
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn a_query_parameter_is_never_null() {
        let number = json!({ "type": ["integer", "null"], "default": null, "minimum": 0 });
        assert_eq!(without_null(number), json!({ "type": "integer", "minimum": 0 }));
        let role = json!({ "anyOf": [{ "$ref": "#/a" }, { "type": "null" }] });
        assert_eq!(without_null(role), json!({ "$ref": "#/a" }));
    }
}
