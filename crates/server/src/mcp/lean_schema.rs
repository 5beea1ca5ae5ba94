//! Output schemas as listings show them: the structure of a reply without its prose.
//!
//! Clients check replies against the listed schema, so it must hold for every reply. Leaving a
//! constraint out only allows more, except inside `oneOf`, which becomes `anyOf`.
//! `helmdeck://packs/{name}` has the whole schema.

use serde_json::{Map, Value, json};

/// What is kept of a schema, besides the schemas inside it.
const KEPT: [&str; 4] = ["type", "required", "enum", "const"];
/// The most bytes of a listed schema, unless its required fields need more.
const MAX_BYTES: usize = 400;
/// How many objects inside each other are described at most.
const MAX_DEPTH: usize = 3;
/// Longer lists of values are left out.
const MAX_VALUES: usize = 12;

/// The structure that a schema describes, in as much depth as is short enough. If even the top is
/// too long, the fields that are not in every reply are left out.
pub fn lean(schema: &Map<String, Value>) -> Map<String, Value> {
    for depth in (0..=MAX_DEPTH).rev() {
        let lean = structure(schema, depth);
        if serde_json::to_vec(&lean).is_ok_and(|text| text.len() <= MAX_BYTES) {
            return lean;
        }
    }
    let mut lean = structure(schema, 0);
    let required = lean.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(fields)) = lean.get_mut("properties") {
        fields.retain(|name, _| required.iter().any(|it| it == name));
    }
    lean
}

/// `depth` is how many objects inside this one are described. What is inside the others is left out.
fn structure(schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    describe(schema, Some(depth))
}

/// `None` for an object that only has its type.
fn describe(schema: &Map<String, Value>, depth: Option<usize>) -> Map<String, Value> {
    let mut lean = Map::new();
    for name in KEPT {
        if let Some(value) = schema.get(name) {
            lean.insert(name.to_owned(), value.clone());
        }
    }
    if lean.get("enum").and_then(Value::as_array).is_some_and(|it| it.len() > MAX_VALUES) {
        lean.remove("enum");
    }
    match depth {
        None => drop(lean.remove("required")),
        Some(depth) => {
            let deeper = depth.checked_sub(1);
            if let Some(Value::Object(fields)) = schema.get("properties") {
                let field =
                    |(name, field): (&String, &Value)| (name.clone(), inside(field, deeper));
                lean.insert("properties".to_owned(), fields.iter().map(field).collect());
            }
            if let Some(values @ Value::Object(_)) = schema.get("additionalProperties") {
                lean.insert("additionalProperties".to_owned(), inside(values, deeper));
            }
        }
    }
    // With `prefixItems`, `items` describes only what follows.
    if let Some(items) = schema.get("items").filter(|_| !schema.contains_key("prefixItems")) {
        lean.insert("items".to_owned(), inside(items, depth));
    }
    for name in ["anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = schema.get(name) {
            let choices = choices.iter().map(|choice| inside(choice, depth));
            merge_choices(&mut lean, choices.collect());
        }
    }
    lean
}

fn inside(schema: &Value, depth: Option<usize>) -> Value {
    match schema {
        Value::Object(schema) => Value::Object(describe(schema, depth)),
        // `true` allows anything, and `false` is never an answer's schema.
        _ => json!({}),
    }
}

/// Adds alternatives. Alternatives that only differ in their type become one list of types.
fn merge_choices(lean: &mut Map<String, Value>, choices: Vec<Value>) {
    if choices.contains(&json!({})) || lean.contains_key("anyOf") {
        return;
    }
    let types: Option<Vec<&Value>> = choices.iter().map(only_type).collect();
    match types.filter(|_| !lean.contains_key("type")) {
        Some(types) => {
            let mut distinct: Vec<&Value> = Vec::new();
            for name in types.into_iter().filter(|name| name.is_string()) {
                if !distinct.contains(&name) {
                    distinct.push(name);
                }
            }
            let value = match distinct.as_slice() {
                [only] => (*only).clone(),
                several => json!(several),
            };
            lean.insert("type".to_owned(), value);
        }
        None => {
            lean.insert("anyOf".to_owned(), choices.into());
        }
    }
}

/// The type of a schema that says nothing else.
fn only_type(schema: &Value) -> Option<&Value> {
    let schema = schema.as_object().filter(|schema| schema.len() == 1)?;
    schema.get("type").filter(|kind| kind.is_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lean_of(schema: Value) -> Value {
        Value::Object(lean(schema.as_object().unwrap()))
    }

    #[test]
    fn structure_stays_and_prose_goes() {
        let schema = json!({
            "title": "Reply", "type": "object", "required": ["id"], "additionalProperties": false,
            "properties": {
                "id": { "type": "string", "description": "Its id.", "pattern": "^a", "maxLength": 3 },
                "state": { "enum": ["working", "completed"], "description": "Its state." },
                "size": { "type": ["integer", "null"], "minimum": 0, "format": "uint32" },
                "names": { "type": "array", "items": { "type": "string", "title": "Name" } },
            },
        });
        assert_eq!(
            lean_of(schema),
            json!({
                "type": "object", "required": ["id"],
                "properties": {
                    "id": { "type": "string" },
                    "state": { "enum": ["working", "completed"] },
                    "size": { "type": ["integer", "null"] },
                    "names": { "type": "array", "items": { "type": "string" } },
                },
            })
        );
    }

    #[test]
    fn a_long_schema_is_described_in_less_depth_and_then_by_its_required_fields() {
        let inner = |fields: usize| {
            let field = |n| (format!("a_field_with_the_number_{n}"), json!({ "type": "string" }));
            let fields: Map<_, _> = (0..fields).map(field).collect();
            json!({ "type": "object", "properties": fields, "required": ["a_field_with_the_number_0"] })
        };
        let short = json!({ "type": "object", "properties": { "inner": inner(1) } });
        assert_eq!(lean_of(short.clone()), short);
        let long = json!({ "type": "object", "properties": { "inner": inner(50) } });
        let cut = json!({ "type": "object", "properties": { "inner": { "type": "object" } } });
        assert_eq!(lean_of(long), cut);
        assert_eq!(lean_of(inner(50)), inner(1));
    }

    #[test]
    fn alternatives_that_are_no_longer_distinct_are_still_allowed() {
        let one = json!({ "type": "object", "properties": { "a": { "pattern": "^a" } } });
        let other = json!({ "type": "object", "properties": { "a": { "pattern": "^b" } } });
        let lean = lean_of(json!({ "oneOf": [one, other] }));
        assert!(lean.get("oneOf").is_none() && lean["anyOf"].as_array().unwrap().len() == 2);
        let types =
            lean_of(json!({ "anyOf": [{ "type": "string", "format": "x" }, { "type": "null" }] }));
        assert_eq!(types, json!({ "type": ["string", "null"] }));
        let anything = lean_of(json!({ "anyOf": [{ "minimum": 3 }, { "type": "null" }] }));
        assert_eq!(anything, json!({}));
    }

    #[test]
    fn the_items_of_a_tuple_are_not_taken_for_those_of_a_list() {
        let tuple = json!({ "type": "array", "prefixItems": [{}], "items": { "type": "string" } });
        assert_eq!(lean_of(tuple), json!({ "type": "array" }));
    }
}
