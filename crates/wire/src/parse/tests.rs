//! Compares the parser with serde_json's.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{from_value, json};

use super::*;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    points: Vec<Point>,
    #[serde(default)]
    kind: Kind,
    name: Option<Name>,
    #[serde(default)]
    rest: BTreeMap<Name, f32>,
    pair: Option<(u8, char)>,
    #[serde(default)]
    any: Value,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Point {
    x: i32,
    y: Option<u64>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Name(String);

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    Plain,
    Wrapped(bool),
    Both(u8, u8),
    Named {
        depth: u8,
    },
}

#[test]
fn values_are_parsed_as_serde_json_parses_them() {
    for value in [
        json!({"points": []}),
        json!({"points": [{"x": -1, "y": null}, {"x": 2, "y": 3}], "kind": "plain"}),
        json!({"points": [], "kind": {"wrapped": true}, "name": "n", "rest": {"a": 1, "b": 0.5}}),
        json!({"points": [], "kind": {"both": [1, 2]}, "pair": [1, "x"], "any": {"a": [1, null]}}),
        json!({"points": [], "kind": {"named": {"depth": 1}}, "any": -1.5}),
    ] {
        assert_eq!(parse::<Whole>(value.clone()), Ok(from_value(value).unwrap()));
    }
}

#[test]
fn an_error_has_the_reason_of_serde_json_and_names_the_field() {
    for (value, field) in [
        (json!({}), ""),
        (json!(null), ""),
        (json!("text"), ""),
        (json!({"points": 5}), "points"),
        (json!({"points": [{"x": 1}, {"y": 1}]}), "points[1]"),
        (json!({"points": [{"x": 1}, {"x": "left"}]}), "points[1].x"),
        (json!({"points": [{"x": 1.5}]}), "points[0].x"),
        (json!({"points": [{"x": 1, "y": -1}]}), "points[0].y"),
        (json!({"points": [], "kind": "other"}), "kind"),
        (json!({"points": [], "kind": {"wrapped": null}}), "kind.wrapped"),
        (json!({"points": [], "kind": {"named": {}}}), "kind.named"),
        (json!({"points": [], "kind": {"both": [1, true]}}), "kind.both[1]"),
        (json!({"points": [], "kind": {}}), "kind"),
        (json!({"points": [], "kind": "wrapped"}), "kind.wrapped"),
        (json!({"points": [], "rest": {"a": "b"}}), "rest.a"),
        (json!({"points": [], "pair": [1, "x", 2]}), "pair"),
        (json!({"points": [], "pair": [1, "xy"]}), "pair[1]"),
        (json!({"points": [], "nmae": 1}), "nmae"),
    ] {
        let expected = from_value::<Whole>(value.clone()).unwrap_err().to_string();
        let invalid = parse::<Whole>(value.clone()).unwrap_err();
        // A missing field is named as the place of the error.
        let missing = expected.strip_prefix("missing field `").and_then(|it| it.strip_suffix('`'));
        let dot = if field.is_empty() { "" } else { "." };
        let expected = match missing {
            Some(name) => (format!("{field}{dot}{name}"), MISSING.to_owned()),
            None => (field.to_owned(), expected),
        };
        assert_eq!((invalid.field, invalid.reason), expected, "{value}");
    }
}
