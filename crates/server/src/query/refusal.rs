//! What is wrong with a query string, in words: the field, and what was expected there.

use axum::extract::Query;
use http::Uri;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// What the parser says before what it has to say.
const PREFACE: &str = "Failed to deserialize query string: ";

/// The sentence for a query that is no `T`, of which the parser said `said`.
pub fn sentence<T: JsonSchema>(query: &str, said: &str) -> String {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let none = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for (name, text) in pairs(query) {
        let Some(schema) = fields.get(&name) else {
            let known: Vec<_> = fields.keys().map(String::as_str).collect();
            return match known.as_slice() {
                [] => format!("unknown field {name:?}: there are none"),
                known => format!("unknown field {name:?}: known fields are {}", known.join(", ")),
            };
        };
        if let Some(expected) = Expected::of(schema).filter(|expected| !expected.fits(&text)) {
            return format!("{name}: expected {}", expected.sentence());
        }
    }
    let said = said.strip_prefix(PREFACE).unwrap_or(said);
    let missing = said.strip_prefix("missing field `").and_then(|it| it.strip_suffix('`'));
    missing.map_or_else(|| said.to_owned(), |field| format!("{field} is missing"))
}

/// Names and values, percent signs resolved.
fn pairs(query: &str) -> Vec<(String, String)> {
    let uri = format!("/?{query}").parse::<Uri>().unwrap_or_default();
    Query::try_from_uri(&uri).map_or_else(|_| Vec::new(), |Query(pairs)| pairs)
}

/// What a schema says of a value.
enum Expected {
    Flag,
    Number { min: Option<i64>, max: Option<i64> },
    OneOf(Vec<String>),
}

impl Expected {
    /// Nothing if any text is as good.
    fn of(schema: &Value) -> Option<Self> {
        let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
        if is(schema, "boolean") {
            return Some(Self::Flag);
        }
        if is(schema, "integer") {
            return Some(Self::Number { min: bound("minimum"), max: bound("maximum") });
        }
        let mut words = Vec::new();
        constants(schema, &mut words);
        (!words.is_empty()).then_some(Self::OneOf(words))
    }

    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Flag => matches!(text, "true" | "false"),
            Self::Number { min, max } => text.parse::<i64>().is_ok_and(|number| {
                min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
            }),
            Self::OneOf(words) => words.iter().any(|word| word == text),
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Number { min: Some(min), max: Some(max) } => format!("{min} to {max}"),
            Self::Number { min: Some(min), max: None } => format!("a whole number, {min} or more"),
            Self::Number { min: None, max: Some(max) } => format!("a whole number up to {max}"),
            Self::Number { min: None, max: None } => "a whole number".to_owned(),
            Self::OneOf(words) => words.join(" or "),
        }
    }
}

fn is(schema: &Value, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == wanted,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        _ => false,
    }
}

/// The words that a schema allows, however deep they stand.
fn constants(schema: &Value, words: &mut Vec<String>) {
    let list = |name: &str| schema.get(name).and_then(Value::as_array).into_iter().flatten();
    let own = schema.get("const").into_iter().chain(list("enum"));
    words.extend(own.filter_map(Value::as_str).map(str::to_owned));
    for choice in list("anyOf").chain(list("oneOf")) {
        constants(choice, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::{cast::CastQuery, sessions::CreateQuery};

    fn refused<T: JsonSchema + serde::de::DeserializeOwned>(query: &str) -> String {
        let uri = format!("/?{query}").parse().unwrap();
        let rejection = Query::<T>::try_from_uri(&uri).err().expect("it is refused");
        sentence::<T>(query, &rejection.body_text())
    }

    #[test]
    fn a_query_is_refused_by_field_and_with_what_is_expected() {
        for (query, message) in [
            ("quality=abc", "quality: expected 1 to 100"),
            ("max_fps=-1", "max_fps: expected 1 to 60"),
            ("ack=maybe", "ack: expected true or false"),
            ("take=1", "take: expected true or false"),
            ("role=boss", "role: expected view or control"),
        ] {
            assert_eq!(refused::<CastQuery>(query), message);
        }
        let unknown = refused::<CastQuery>("ticket=secret&fp%73=3");
        assert!(unknown.starts_with("unknown field \"fps\": known fields are "), "{unknown}");
        assert!(unknown.contains("max_fps") && unknown.contains("ticket"), "{unknown}");
        assert!(!unknown.contains("secret"), "{unknown}");
        assert_eq!(refused::<CreateQuery>("wait=no"), "wait: expected true or false");
    }
}
