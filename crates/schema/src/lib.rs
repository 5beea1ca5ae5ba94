//! The input validator: checks a JSON value against the JSON Schema of a type.
//!
//! It supports the keywords that schemars writes, and rejects schemas with any other. Everything
//! that a schema promises is therefore enforced. It also supports these extensions:
//!
//! | keyword | meaning |
//! |---|---|
//! | `x-error` | the error code of a wrong or missing value |
//! | `x-missing` | the error code of a missing or empty value, if it is another |
//! | `x-expected` | description of what is expected, if a pattern is hard to read |
//! | `x-secret` | the value is never repeated in a message |
//! | `x-aliases` | other spellings of the values of an `enum` |

mod check;
mod coerce;
mod keywords;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may")]
mod tests;
mod violation;

use std::collections::HashMap;

use regex_lite::Regex;
use serde_json::Value;

pub use violation::{Expected, Problem, Violation};

/// A schema that is ready to check values.
#[derive(Debug)]
pub struct Schema {
    root: Value,
    patterns: HashMap<String, Regex>,
}

/// A schema that cannot be enforced.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SchemaError {
    /// A keyword that the validator does not know.
    #[error("{place}: the keyword {keyword:?} is not supported")]
    Keyword {
        /// Location in the schema.
        place: String,
        /// The keyword.
        keyword: String,
    },
    /// A pattern that is not a regular expression.
    #[error("{place}: the pattern {pattern:?} is not a regular expression")]
    Pattern {
        /// Location in the schema.
        place: String,
        /// The pattern.
        pattern: String,
    },
    /// A reference to a missing definition.
    #[error("{place}: the reference {reference:?} has no target")]
    Reference {
        /// Location in the schema.
        place: String,
        /// The reference.
        reference: String,
    },
    /// A reference that leads back to itself for the same value.
    #[error("{place}: the reference {reference:?} leads back to itself")]
    Cycle {
        /// Location in the schema.
        place: String,
        /// The reference.
        reference: String,
    },
}

impl Schema {
    /// Prepares a root schema, with its definitions in `$defs`.
    pub fn new(root: Value) -> Result<Self, SchemaError> {
        let patterns = keywords::inspect(&root)?;
        Ok(Self { root, patterns })
    }

    /// The schema as it was given.
    pub fn value(&self) -> &Value {
        &self.root
    }

    /// Checks a value. Returns the most important violation.
    pub fn check(&self, value: &Value) -> Result<(), Violation> {
        check::check(self, value)
    }

    /// The names of the fields of an object's schema, in order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.root
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|it| it.0.as_str())
    }

    /// The schema of a field at the top, references resolved.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let field = self.root.get("properties")?.get(name)?;
        Some(self.resolve(field))
    }

    /// Whether a field at the top may have this value. A field that the schema does not know may have any.
    pub fn allows(&self, name: &str, value: &Value) -> bool {
        let field = self.root.get("properties").and_then(|fields| fields.get(name));
        field.is_none_or(|field| check::check_part(self, field, value).is_ok())
    }

    /// Whether a field at the top must be present.
    pub fn requires(&self, name: &str) -> bool {
        let required = self.root.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|field| field == name))
    }

    /// The error code for an invalid value at a path such as `path[1].x`, and whether it is secret.
    pub fn notes_at(&self, place: &str) -> (Option<&str>, bool) {
        let (mut schema, mut code, mut secret) = (&self.root, None, false);
        for step in place.split(['.', '[']).map(|step| step.trim_end_matches(']')) {
            let Some(inner) = self.step(schema, step) else { break };
            let target = self.resolve(inner);
            for part in [target, inner] {
                code = part.get("x-error").and_then(Value::as_str).or(code);
                secret = secret || part.get("x-secret").is_some();
            }
            schema = target;
        }
        (code, secret)
    }

    /// The error code for a field at the top that is missing.
    pub fn code_if_missing(&self, field: &str) -> Option<&str> {
        let inner = self.root.get("properties")?.get(field)?;
        let code = |name: &str| inner.get(name).or_else(|| self.resolve(inner).get(name));
        code("x-missing").or_else(|| code("x-error")).and_then(Value::as_str)
    }

    /// The schema of a field or element, also inside a nullable schema.
    fn step<'a>(&'a self, schema: &'a Value, step: &str) -> Option<&'a Value> {
        let schema = self.resolve(schema);
        let is_index = step.parse::<usize>().is_ok();
        let own = || if is_index { schema.get("items") } else { None };
        let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        let choices = choices.and_then(Value::as_array).into_iter().flatten();
        let field = schema.get("properties").and_then(|fields| fields.get(step));
        field.or_else(own).or_else(|| choices.into_iter().find_map(|it| self.step(it, step)))
    }

    /// Converts the text of a query, path or command line to a value of a field. Other text stays a
    /// string, which the check then refuses.
    pub fn coerce(&self, field: &str, text: &str) -> Value {
        match self.field(field) {
            Some(schema) => coerce::coerce(self, schema, text),
            None => text.into(),
        }
    }

    /// Resolves a reference. A schema without one is returned unchanged.
    pub(crate) fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        // References were checked and chains are short. A cycle ends here.
        for _ in 0..16 {
            let target =
                schema.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
            match target.and_then(|target| self.root.pointer(target)) {
                Some(target) => schema = target,
                None => return schema,
            }
        }
        schema
    }

    pub(crate) fn pattern(&self, pattern: &str) -> Option<&Regex> {
        self.patterns.get(pattern)
    }
}
