//! Schemas before and after.

use super::*;

#[test]
fn references_nulls_unions_and_notes_are_gone() {
    let schema = json!({
        "$schema": "x", "type": "object", "anyOf": [{ "required": ["a"] }, { "required": ["b"] }],
        "$defs": { "B": { "type": "string", "enum": ["l", "r"], "description": "Side." } },
        "properties": {
            "a": { "$ref": "#/$defs/B", "default": "l" },
            "b": { "anyOf": [{ "$ref": "#/$defs/B" }, { "type": "null" }], "description": "Mine." },
            "c": { "type": ["integer", "null"], "format": "uint32", "default": null, "x-error": "e" },
            "d": { "type": "array" },
        },
    });

    let portable = Value::Object(portable(&schema));

    assert_eq!(
        portable,
        json!({
            "type": "object",
            "properties": {
                "a": { "type": "string", "enum": ["l", "r"], "description": "Side.", "default": "l" },
                "b": { "type": "string", "enum": ["l", "r"], "description": "Mine." },
                "c": { "type": "integer" },
                "d": { "type": "array", "items": {} },
            },
        })
    );
}

#[test]
fn a_brief_schema_keeps_names_types_and_the_first_sentence() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["a"],
        "properties": {
            "a": { "type": "string", "maxLength": 9, "description": "One. Two." },
            "b": { "type": "array", "items": { "type": "string", "description": "Deep." } },
            "c": { "type": "object", "additionalProperties": { "type": "string" } },
        },
    });
    let brief = Value::Object(brief(schema.as_object().unwrap().clone()));
    assert_eq!(
        brief,
        json!({
            "type": "object", "required": ["a"],
            "properties": {
                "a": { "type": "string", "description": "One." },
                "b": { "type": "array", "items": { "type": "string" } },
                "c": { "type": "object", "additionalProperties": { "type": "string" } },
            },
        })
    );
}

#[test]
fn a_concise_schema_has_types_only_of_optional_objects_also_in_required_lists() {
    let near = json!({
        "type": "object", "description": "Where.",
        "properties": { "x": { "type": "integer", "description": "From the left.", "minimum": 1 } },
    });
    let step = json!({
        "type": "object", "required": ["does"],
        "properties": {
            "does": { "type": "string", "description": "What." },
            "by": { "type": "integer", "maximum": 100_000, "default": 0 },
            "near": near,
        },
    });
    let schema = json!({
        "type": "object", "required": ["steps"],
        "properties": {
            "steps": { "type": "array", "items": step },
            "quick": { "type": "boolean", "default": false },
            "often": { "type": "integer", "maximum": 9, "default": 3 },
        },
    });
    let concise = Value::Object(concise(schema.as_object().unwrap().clone()));
    let near = json!({
        "type": "object", "description": "Where.", "properties": { "x": { "type": "integer" } },
    });
    assert_eq!(
        concise["properties"],
        json!({
            "steps": { "type": "array", "items": {
                "type": "object", "required": ["does"],
                "properties": {
                    "does": { "type": "string", "description": "What." },
                    "by": { "type": "integer", "default": 0 },
                    "near": near,
                },
            } },
            "quick": { "type": "boolean" },
            "often": { "type": "integer", "maximum": 9, "default": 3 },
        })
    );
}

#[test]
fn a_declared_schema_has_no_maps_and_nothing_beside_a_union() {
    let part = json!({ "type": "object", "properties": { "at": { "type": "string" } } });
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "object", "additionalProperties": part, "description": "Parts." },
            "b": {
                "anyOf": [{ "type": "string", "description": "A line." }, { "type": "integer" }],
                "description": "What.", "default": 1,
            },
            "c": { "type": "number", "exclusiveMinimum": 0 },
        },
    });
    let declared = Value::Object(declared(portable(&schema)));
    assert_eq!(
        declared["properties"],
        json!({
            "a": { "type": "object", "description": "Parts. Each value is an object with `at`." },
            "b": {
                "anyOf": [{ "type": "string", "description": "What. A line." }, { "type": "integer" }],
            },
            "c": { "type": "number" },
        })
    );
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = json!({
        "type": "object",
        "$defs": { "N": { "type": "object", "properties": { "n": { "$ref": "#/$defs/N" } } } },
        "properties": { "n": { "$ref": "#/$defs/N" } },
    });
    assert!(Value::Object(portable(&schema)).to_string().len() < 2000);
}
