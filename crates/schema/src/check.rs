//! Checks a value against a schema, keyword by keyword.

use serde_json::{Map, Number, Value};

use crate::{
    Schema, Violation,
    violation::{Expected, Problem, quote},
};

type Checked = Result<(), Violation>;

/// Checks a value against the whole schema.
pub fn check(schema: &Schema, value: &Value) -> Checked {
    check_part(schema, &schema.root, value)
}

/// Checks a value against a part of a schema.
pub fn check_part(whole: &Schema, part: &Value, value: &Value) -> Checked {
    Place { whole, field: String::new(), notes: Notes::default() }.check(part, value)
}

/// Reporting hints of the schema. Those of a field take precedence over those of its type, and
/// these over those further up.
#[derive(Debug, Clone, Copy, Default)]
struct Notes<'a> {
    error: Option<&'a str>,
    missing: Option<&'a str>,
    expected: Option<&'a str>,
    secret: bool,
}

impl<'a> Notes<'a> {
    fn read(self, schema: &'a Value) -> Self {
        let text = |name: &str| schema.get(name).and_then(Value::as_str);
        let error = text("x-error");
        Self {
            error: error.or(self.error),
            missing: text("x-missing").or(error).or(self.missing),
            expected: text("x-expected").or(self.expected),
            secret: self.secret || schema.get("x-secret").is_some(),
        }
    }
}

/// The current position in the value.
#[derive(Clone)]
struct Place<'a> {
    whole: &'a Schema,
    field: String,
    notes: Notes<'a>,
}

impl<'a> Place<'a> {
    /// The position of a field or element with this schema.
    fn inside(&self, step: &str, schema: &'a Value) -> Self {
        let separator = if self.field.is_empty() || step.starts_with('[') { "" } else { "." };
        let field = format!("{}{separator}{step}", self.field);
        let above = Notes { expected: None, ..self.notes };
        // The type first, so that the field overrides it.
        let notes = above.read(self.whole.resolve(schema)).read(schema);
        Self { whole: self.whole, field, notes }
    }

    fn violated(&self, problem: Problem, code: Option<&str>) -> Violation {
        Violation { field: self.field.clone(), problem, code: code.map(str::to_owned) }
    }

    /// The value is not allowed.
    fn refuse(&self, got: String, expected: Expected) -> Checked {
        let expected = self.notes.expected.map_or(expected, Expected::words);
        let empty = got == "empty";
        let got = Some(got).filter(|_| !self.notes.secret);
        let code = if empty { self.notes.missing } else { self.notes.error };
        Err(self.violated(Problem::NotAllowed { got, expected }, code))
    }

    fn check(&self, schema: &'a Value, value: &Value) -> Checked {
        let Some(keywords) = schema.as_object() else {
            return match schema {
                Value::Bool(false) => self.refuse(quote(value), Expected::words("nothing here")),
                _ => Ok(()),
            };
        };
        if keywords.contains_key("$ref") {
            let target = self.whole.resolve(schema);
            self.check(target, value)?;
        }
        self.check_type(keywords, value)?;
        self.check_choice(keywords, value)?;
        match value {
            Value::Object(object) => self.check_object(keywords, object)?,
            Value::Array(items) => self.check_array(keywords, items)?,
            Value::String(text) => self.check_text(keywords, text)?,
            Value::Number(number) => self.check_number(keywords, number)?,
            Value::Null | Value::Bool(_) => {}
        }
        for part in list(keywords, "allOf") {
            self.check(part, value)?;
        }
        self.check_any_of(keywords, "anyOf", value)?;
        self.check_any_of(keywords, "oneOf", value)
    }

    fn check_type(&self, keywords: &'a Map<String, Value>, value: &Value) -> Checked {
        let kinds: Vec<&str> = match keywords.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => return Ok(()),
        };
        if kinds.iter().any(|kind| has_type(value, kind)) {
            return Ok(());
        }
        let words = kinds.iter().filter(|kind| **kind != "null" || kinds.len() == 1);
        let words = words.map(|kind| type_in_words(kind).to_owned()).collect();
        // For a number, the bounds say more than the type.
        let expected = bounds(keywords).filter(|_| kinds.contains(&"integer"));
        let expected = expected.map_or(Expected::Words(words), Expected::words);
        self.refuse(quote(value), expected)
    }

    /// `enum`, with its aliases, and `const`.
    fn check_choice(&self, keywords: &'a Map<String, Value>, value: &Value) -> Checked {
        let choices = match (keywords.get("enum"), keywords.get("const")) {
            (Some(Value::Array(choices)), _) => choices.as_slice(),
            (_, Some(only)) => std::slice::from_ref(only),
            _ => return Ok(()),
        };
        let aliases = keywords.get("x-aliases").and_then(Value::as_array);
        if choices.contains(value) || aliases.is_some_and(|aliases| aliases.contains(value)) {
            return Ok(());
        }
        let plain =
            |choice: &Value| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned);
        let choices = choices.iter().filter(|choice| !choice.is_null()).map(plain).collect();
        self.refuse(quote(value), Expected::OneOf(choices))
    }

    /// Unknown fields first, because a misspelled field explains a missing one; then invalid
    /// values.
    fn check_object(
        &self,
        keywords: &'a Map<String, Value>,
        object: &Map<String, Value>,
    ) -> Checked {
        let none = Map::new();
        let properties = keywords.get("properties").and_then(Value::as_object);
        let known = |name: &String| properties.is_some_and(|it| it.contains_key(name));
        let others = keywords.get("additionalProperties");
        if others == Some(&Value::Bool(false))
            && let Some(name) = object.keys().find(|name| !known(name))
        {
            let known = properties.unwrap_or(&none).keys().cloned().collect();
            let place = self.inside(name, &Value::Null);
            return Err(place.violated(Problem::Unknown { known }, None));
        }
        for (name, schema) in properties.into_iter().flatten() {
            if let Some(value) = object.get(name) {
                self.inside(name, schema).check(schema, value)?;
            }
        }
        if let Some(schema) = others {
            for (name, value) in object.iter().filter(|(name, _)| !known(name)) {
                self.inside(name, schema).check(schema, value)?;
            }
        }
        if let Some(schema) = keywords.get("propertyNames") {
            let place = Self { notes: self.notes.read(schema), ..self.clone() };
            for name in object.keys() {
                place.check(schema, &Value::String(name.clone()))?;
            }
        }
        let mut required = list(keywords, "required").filter_map(Value::as_str);
        if let Some(name) = required.find(|name| !object.contains_key(*name)) {
            let schema = properties.and_then(|it| it.get(name)).unwrap_or(&Value::Null);
            let place = self.inside(name, schema);
            return Err(place.violated(Problem::Missing, place.notes.missing));
        }
        self.check_size(keywords, "minProperties", "maxProperties", object.len(), "fields")
    }

    fn check_array(&self, keywords: &'a Map<String, Value>, items: &[Value]) -> Checked {
        self.check_size(keywords, "minItems", "maxItems", items.len(), "items")?;
        let first = list(keywords, "prefixItems").collect::<Vec<_>>();
        let rest = keywords.get("items");
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).copied().or(rest) {
                self.inside(&format!("[{index}]"), schema).check(schema, item)?;
            }
        }
        let unique = keywords.get("uniqueItems") == Some(&Value::Bool(true));
        let repeated = items
            .iter()
            .enumerate()
            .find(|(at, item)| items.iter().take(*at).any(|other| other == *item));
        match repeated.filter(|_| unique) {
            Some((_, item)) => self.refuse(
                format!("a list with {} twice", quote(item)),
                Expected::words("each item once"),
            ),
            None => Ok(()),
        }
    }

    fn check_text(&self, keywords: &'a Map<String, Value>, text: &str) -> Checked {
        let length = text.chars().count();
        self.check_size(keywords, "minLength", "maxLength", length, "characters")?;
        let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) else { return Ok(()) };
        if self.whole.pattern(pattern).is_none_or(|pattern| pattern.is_match(text)) {
            return Ok(());
        }
        let example = list(keywords, "examples").find_map(Value::as_str);
        let expected = match example {
            Some(example) => format!("a value such as {example}"),
            None => format!("text that matches {pattern}"),
        };
        self.refuse(quote(&text.into()), Expected::words(expected))
    }

    fn check_number(&self, keywords: &'a Map<String, Value>, number: &Number) -> Checked {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_number);
        let fits = bound("minimum").is_none_or(|min| compare(number, min).is_ge())
            && bound("maximum").is_none_or(|max| compare(number, max).is_le())
            && bound("exclusiveMinimum").is_none_or(|min| compare(number, min).is_gt())
            && bound("exclusiveMaximum").is_none_or(|max| compare(number, max).is_lt());
        if fits {
            return Ok(());
        }
        self.refuse(number.to_string(), Expected::words(bounds(keywords).unwrap_or_default()))
    }

    fn check_size(
        &self,
        keywords: &Map<String, Value>,
        min: &str,
        max: &str,
        size: usize,
        unit: &str,
    ) -> Checked {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_u64);
        let (min, max) = (bound(min), bound(max));
        let size = size as u64;
        if min.is_none_or(|min| size >= min) && max.is_none_or(|max| size <= max) {
            return Ok(());
        }
        let got = if size == 0 { "empty".to_owned() } else { format!("{size} {unit}") };
        self.refuse(got, Expected::words(format!("{} {unit}", range(min, max))))
    }

    /// At least one of several schemas; for `oneOf`, exactly one.
    fn check_any_of(&self, keywords: &'a Map<String, Value>, name: &str, value: &Value) -> Checked {
        let mut violations = Vec::new();
        let mut fitting = 0;
        let mut choices = 0;
        for choice in list(keywords, name) {
            choices += 1;
            let notes = self.notes.read(self.whole.resolve(choice));
            let place =
                Self { notes: Notes { expected: notes.expected, ..self.notes }, ..self.clone() };
            match place.check(choice, value) {
                Ok(()) => fitting += 1,
                Err(violation) => violations.push((is_null(choice), violation)),
            }
        }
        match (fitting, name) {
            _ if choices == 0 => Ok(()),
            (0, _) => Err(self.closest(violations, value)),
            (1, _) | (_, "anyOf") => Ok(()),
            _ => self.refuse(quote(value), Expected::words("only one of the forms it can have")),
        }
    }

    /// The violation of the form that the value was probably meant to have: the one where the check
    /// got furthest. Forms that fail alike are combined.
    fn closest(&self, violations: Vec<(bool, Violation)>, value: &Value) -> Violation {
        let real = violations.iter().any(|(null, _)| !null);
        let mut best: Option<Violation> = None;
        for (_, violation) in violations.into_iter().filter(|(null, _)| !real || !null) {
            best = Some(match best {
                None => violation,
                Some(best) => further(best, violation),
            });
        }
        let nothing = || Problem::NotAllowed {
            got: Some(quote(value)),
            expected: Expected::words("nothing"),
        };
        best.unwrap_or_else(|| self.violated(nothing(), self.notes.error))
    }
}

/// The deeper of two violations; if both are in the same place, their combination.
fn further(first: Violation, second: Violation) -> Violation {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match first.depth().cmp(&second.depth()) {
        Greater => first,
        Less => second,
        Equal => match (first.problem, second.problem) {
            (
                Problem::NotAllowed { got, expected },
                Problem::NotAllowed { expected: other, .. },
            ) if first.field == second.field => {
                let problem = Problem::NotAllowed { got, expected: expected.or(other) };
                Violation { problem, ..second }
            }
            (problem, _) => Violation { problem, field: first.field, code: first.code },
        },
    }
}

fn list<'a>(keywords: &'a Map<String, Value>, name: &str) -> impl Iterator<Item = &'a Value> {
    keywords.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => match value {
            Value::Number(number) => {
                number.is_i64()
                    || number.is_u64()
                    || number.as_f64().is_some_and(|it| it.fract() == 0.0)
            }
            _ => false,
        },
        _ => false,
    }
}

fn type_in_words(kind: &str) -> &str {
    match kind {
        "null" => "null",
        "boolean" => "true or false",
        "object" => "an object",
        "array" => "an array",
        "string" => "a string",
        "number" => "a number",
        "integer" => "a whole number",
        other => other,
    }
}

/// The bounds of a number, in words.
fn bounds(keywords: &Map<String, Value>) -> Option<String> {
    let bound = |name: &str| keywords.get(name).and_then(Value::as_number);
    let (min, max) = (bound("minimum"), bound("maximum"));
    let above = bound("exclusiveMinimum").map(|min| format!("more than {min}"));
    let below = bound("exclusiveMaximum").map(|max| format!("less than {max}"));
    // A bound that is just the integer type's limit is not useful in a message.
    let max = max.filter(|max| max.as_f64().is_none_or(|max| max < f64::from(i32::MAX)));
    let kind = |sentence: String| match keywords.get("type") {
        Some(kind) if kind.to_string().contains("integer") => format!("a whole number, {sentence}"),
        _ => format!("a number, {sentence}"),
    };
    match (min, max, above, below) {
        (Some(min), Some(max), _, _) => Some(format!("{min} to {max}")),
        (None, None, Some(above), Some(below)) => Some(format!("{above} and {below}")),
        (None, Some(max), Some(above), _) => Some(format!("{above}, at most {max}")),
        (Some(min), None, ..) => Some(kind(format!("{min} or more"))),
        (None, Some(max), ..) => Some(kind(format!("{max} or less"))),
        (None, None, Some(one), None) | (None, None, None, Some(one)) => Some(kind(one)),
        (None, None, None, None) => None,
    }
}

fn range(min: Option<u64>, max: Option<u64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}

/// Compares exactly if both are integers.
fn compare(one: &Number, other: &Number) -> std::cmp::Ordering {
    let whole = |number: &Number| number.as_i128();
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => {
            let real = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
            real(one).partial_cmp(&real(other)).unwrap_or(std::cmp::Ordering::Equal)
        }
    }
}
