//! The bounds that stand in a type's schema, enforced: what the API documents is what it checks.
//!
//! Lengths and ranges of the fields at the top of a body. What a type checks while it is parsed
//! (enums, coordinates, sizes) is not repeated here.

use std::{
    any::TypeId,
    collections::HashMap,
    fmt::{self, Display},
};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use crate::{
    error::{ApiError, ApiResult},
    field,
};

/// The bounds of every type that a body can be.
#[derive(Debug, Default)]
pub struct Limits {
    by_type: HashMap<TypeId, Vec<Limit>>,
}

/// The bounds of one field.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    field: String,
    counts: Counts,
    min: Option<f64>,
    max: Option<f64>,
}

/// What of a value is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    Number,
    Characters,
    Items,
}

impl Limits {
    /// Remembers the bounds of a type.
    pub fn add(&mut self, id: TypeId, limits: Vec<Limit>) {
        self.by_type.insert(id, limits);
    }

    /// Checks an object that is about to become a `T`. Values of the wrong kind pass: parsing
    /// refuses them with a better sentence.
    pub fn check<T: 'static>(&self, object: &Map<String, Value>) -> ApiResult<()> {
        let limits = self.by_type.get(&TypeId::of::<T>()).map(Vec::as_slice).unwrap_or_default();
        limits.iter().try_for_each(|limit| match object.get(&limit.field) {
            Some(value) => limit.check(value),
            None => Ok(()),
        })
    }
}

/// Reads the bounds out of a type's schema.
pub fn of<T: JsonSchema>() -> Vec<Limit> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().flat_map(|(field, schema)| limits(field, schema)).collect()
}

fn limits(field: &str, schema: &Value) -> Vec<Limit> {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    [
        (Counts::Number, "minimum", "maximum"),
        (Counts::Characters, "minLength", "maxLength"),
        (Counts::Items, "minItems", "maxItems"),
    ]
    .into_iter()
    .map(|(counts, min, max)| (counts, bound(min), bound(max)))
    .filter(|(_, min, max)| min.is_some() || max.is_some())
    .map(|(counts, min, max)| Limit { field: field.to_owned(), counts, min, max })
    .collect()
}

impl Limit {
    fn check(&self, value: &Value) -> ApiResult<()> {
        let size = match (self.counts, value) {
            (Counts::Number, Value::Number(number)) => number.as_f64(),
            (Counts::Characters, Value::String(text)) => Some(text.chars().count() as f64),
            (Counts::Items, Value::Array(items)) => Some(items.len() as f64),
            _ => None,
        };
        let Some(size) = size else { return Ok(()) };
        if self.min.is_none_or(|min| size >= min) && self.max.is_none_or(|max| size <= max) {
            return Ok(());
        }
        let field = &self.field;
        let codes = field::codes(field);
        if self.counts != Counts::Number && size == 0.0 {
            return Err(ApiError::new(codes.missing, format!("{field} is empty: expected {self}")));
        }
        let unit = self.counts.unit();
        Err(ApiError::new(codes.invalid, format!("{field} is {size}{unit}: expected {self}")))
    }
}

impl Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) => write!(f, "{min} to {max}")?,
            (Some(min), None) => write!(f, "at least {min}")?,
            (None, Some(max)) => write!(f, "at most {max}")?,
            (None, None) => {}
        }
        f.write_str(self.counts.unit())
    }
}

impl Counts {
    fn unit(self) -> &'static str {
        match self {
            Self::Number => "",
            Self::Characters => " characters",
            Self::Items => " items",
        }
    }
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::{
        ErrorCode, keyboard::Type, pointer::ModifierClick, screen::Screenshot, session::SessionSpec,
    };
    use serde_json::json;

    use super::*;

    fn refusal<T: JsonSchema + 'static>(body: Value) -> Option<(ErrorCode, String)> {
        let mut limits = Limits::default();
        limits.add(TypeId::of::<T>(), of::<T>());
        let refused = limits.check::<T>(body.as_object().unwrap()).err()?;
        Some((refused.code, refused.message))
    }

    #[test]
    fn an_empty_value_counts_as_missing() {
        let (code, message) = refusal::<Type>(json!({"text": ""})).unwrap();
        assert_eq!(code, ErrorCode::MissingText);
        assert_eq!(message, "text is empty: expected 1 to 100000 characters");
        let (code, _) = refusal::<ModifierClick>(json!({"modifiers": []})).unwrap();
        assert_eq!(code, ErrorCode::MissingModifiers);
    }

    #[test]
    fn a_value_outside_its_documented_range_is_refused() {
        let (code, message) = refusal::<Screenshot>(json!({"max_width": 5})).unwrap();
        assert_eq!(code, ErrorCode::InvalidInput);
        assert_eq!(message, "max_width is 5: expected 16 to 7680");
        assert!(refusal::<SessionSpec>(json!({"cpu_limit": 0.0})).is_some());
        assert!(refusal::<SessionSpec>(json!({"label": "x".repeat(201)})).is_some());
    }

    #[test]
    fn what_fits_or_is_of_another_kind_passes() {
        assert_eq!(refusal::<Type>(json!({"text": "é".repeat(100_000)})), None);
        assert_eq!(refusal::<Type>(json!({"text": 5})), None);
        assert_eq!(refusal::<Screenshot>(json!({"max_width": null})), None);
    }
}
