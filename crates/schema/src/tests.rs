//! Tests of the validator with schemas as schemars writes them.

use serde_json::{Value, json};

use crate::{Schema, SchemaError};

fn schema() -> Schema {
    Schema::new(json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["x", "session_id"],
        "properties": {
            "x": { "$ref": "#/$defs/Px", "x-error": "invalid_coordinates" },
            "session_id": { "type": "string", "minLength": 1, "x-missing": "missing_session_id" },
            "button": { "$ref": "#/$defs/Button", "x-error": "invalid_button" },
            "maybe": { "anyOf": [{ "$ref": "#/$defs/Button" }, { "type": "null" }] },
            "text": { "type": "string", "minLength": 1, "maxLength": 5,
                      "x-error": "invalid_text", "x-missing": "missing_text" },
            "locale": { "type": ["string", "null"], "pattern": "^[a-z]{2,3}$",
                        "x-expected": "a language such as de" },
            "path": { "type": "array", "maxItems": 3, "items": { "$ref": "#/$defs/Point" },
                      "x-error": "invalid_path" },
            "password": { "type": "string", "maxLength": 3, "x-secret": true },
            "command": { "anyOf": [
                { "type": "string", "minLength": 1 },
                { "type": "array", "items": { "type": "string" }, "minItems": 1 },
            ] },
            "seconds": { "type": "number", "exclusiveMinimum": 0 },
            "big": { "type": "integer", "minimum": 0, "maximum": u64::MAX },
            "env": { "type": "object", "additionalProperties": { "type": "string" },
                     "propertyNames": { "pattern": "^[A-Z]+$", "x-expected": "capital letters" } },
        },
        "$defs": {
            "Px": { "type": "number", "minimum": 0, "maximum": 65535 },
            "Button": { "oneOf": [
                { "type": "string", "const": "left" },
                { "type": "string", "const": "right", "description": "The other." },
            ] },
            "Point": {
                "type": "object", "additionalProperties": false, "required": ["x", "y"],
                "properties": {
                    "x": { "$ref": "#/$defs/Px" },
                    "y": { "$ref": "#/$defs/Px", "x-error": "invalid_y" },
                },
            },
        },
    }))
    .unwrap()
}

/// A valid object with one field changed.
fn with(field: &str, value: Value) -> Value {
    let mut object = json!({ "x": 1, "session_id": "s" });
    object[field] = value;
    object
}

fn refused(value: &Value) -> (String, String) {
    let violation = schema().check(value).expect_err("it is refused");
    (violation.to_string(), violation.code.unwrap_or_default())
}

#[test]
fn allowed_values_pass() {
    for value in [
        with("x", json!(65535)),
        with("x", json!(1.5)),
        with("button", json!("right")),
        with("maybe", json!(null)),
        with("maybe", json!("left")),
        with("text", json!("héllo")),
        with("locale", json!("de")),
        with("locale", json!(null)),
        with("path", json!([{ "x": 1, "y": 2 }])),
        with("command", json!("ls")),
        with("command", json!(["ls", "-l"])),
        with("seconds", json!(0.1)),
        with("big", json!(u64::MAX)),
        with("big", json!(5.0)),
        with("env", json!({ "A": "b" })),
    ] {
        assert_eq!(schema().check(&value), Ok(()), "{value}");
    }
}

#[test]
fn a_violation_names_the_field_the_value_what_is_expected_and_the_code() {
    for (value, message, code) in [
        (with("x", json!(-1)), "x is -1: expected 0 to 65535", "invalid_coordinates"),
        (with("x", json!("left")), "x is \"left\": expected a number", "invalid_coordinates"),
        (json!({ "session_id": "s" }), "x is missing", "invalid_coordinates"),
        (json!({ "x": 1 }), "session_id is missing", "missing_session_id"),
        (
            with("session_id", json!("")),
            "session_id is empty: expected at least 1 characters",
            "missing_session_id",
        ),
        (with("button", json!("up")), "button is \"up\": expected left or right", "invalid_button"),
        (with("button", json!(5)), "button is 5: expected a string", "invalid_button"),
        (with("maybe", json!("up")), "maybe is \"up\": expected left or right", ""),
        (with("text", json!("")), "text is empty: expected 1 to 5 characters", "missing_text"),
        (
            with("text", json!("sixsix")),
            "text is 6 characters: expected 1 to 5 characters",
            "invalid_text",
        ),
        (with("locale", json!("x")), "locale is \"x\": expected a language such as de", ""),
        (
            with("path", json!([{ "x": 1, "y": 2 }, { "x": 1 }])),
            "path[1].y is missing",
            "invalid_y",
        ),
        (
            with("path", json!([{ "x": "a", "y": 2 }])),
            "path[0].x is \"a\": expected a number",
            "invalid_path",
        ),
        (
            with("path", json!([1, 2, 3, 4])),
            "path is 4 items: expected at most 3 items",
            "invalid_path",
        ),
        (
            with("path", json!([{ "x": 1, "y": 1, "z": 1 }])),
            "unknown field \"z\" in path[0]: known fields are x, y",
            "",
        ),
        (with("password", json!("secret")), "password: expected at most 3 characters", ""),
        (with("command", json!(5)), "command is 5: expected a string or an array", ""),
        (with("command", json!([5])), "command[0] is 5: expected a string", ""),
        (with("seconds", json!(0)), "seconds is 0: expected a number, more than 0", ""),
        (with("big", json!(-1)), "big is -1: expected a whole number, 0 or more", ""),
        (with("big", json!(0.5)), "big is 0.5: expected a whole number, 0 or more", ""),
        (with("env", json!({ "A": 1 })), "env.A is 1: expected a string", ""),
        (with("env", json!({ "a": "b" })), "env is \"a\": expected capital letters", ""),
        (json!([]), "the body is an array: expected an object", ""),
    ] {
        assert_eq!(refused(&value), (message.to_owned(), code.to_owned()), "{value}");
    }
}

#[test]
fn an_unknown_field_is_reported_before_a_missing_one() {
    let (message, _) = refused(&json!({ "X": 1 }));
    assert!(message.starts_with("unknown field \"X\": known fields are "), "{message}");
}

#[test]
fn the_allowed_values_are_listed_for_programs() {
    let violation = schema().check(&with("button", json!("up"))).expect_err("it is refused");
    assert_eq!(
        (violation.field.as_str(), violation.allowed()),
        ("button", vec!["left".into(), "right".into()])
    );
}

#[test]
fn aliases_of_values_pass() {
    let schema = Schema::new(json!({ "enum": ["middle"], "x-aliases": ["wheel"] })).unwrap();
    assert_eq!(schema.check(&json!("wheel")), Ok(()));
    assert!(schema.check(&json!("wheels")).is_err());
}

#[test]
fn a_schema_with_an_unknown_keyword_pattern_or_reference_is_refused() {
    let refused = |schema| Schema::new(schema).err();
    assert!(
        matches!(refused(json!({ "properties": { "a": { "not": {} } } })), Some(SchemaError::Keyword { place, keyword }) if place == "/properties/a" && keyword == "not")
    );
    assert!(matches!(refused(json!({ "pattern": "(" })), Some(SchemaError::Pattern { .. })));
    assert!(matches!(
        refused(json!({ "$ref": "#/$defs/None" })),
        Some(SchemaError::Reference { .. })
    ));
}

#[test]
fn a_reference_that_leads_back_to_itself_is_refused() {
    let refused = |schema| matches!(Schema::new(schema).err(), Some(SchemaError::Cycle { .. }));
    assert!(refused(json!({ "$defs": { "A": { "$ref": "#/$defs/A" } } })));
    assert!(refused(json!({
        "$defs": { "A": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/B" }] },
            "B": { "allOf": [{ "$ref": "#/$defs/A" }] } },
        "$ref": "#/$defs/A",
    })));
    // Each level of a tree is another value.
    let tree = json!({ "type": "object", "properties": { "below": { "$ref": "#" } } });
    let value = json!({ "below": { "below": { "below": 5 } } });
    assert_eq!(Schema::new(tree).unwrap().check(&value).unwrap_err().field, "below.below.below");
}

#[test]
fn the_code_of_a_path_comes_from_its_field_or_the_nearest_parent() {
    let schema = schema();
    for (place, code) in [
        ("x", Some("invalid_coordinates")),
        ("path[1].y", Some("invalid_y")),
        ("path[1].x", Some("invalid_path")),
        ("locale", None),
        ("nothing", None),
        ("", None),
    ] {
        assert_eq!(schema.notes_at(place), (code, false), "{place}");
    }
    assert_eq!(schema.notes_at("password"), (None, true));
}
