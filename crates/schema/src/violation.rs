//! Violations of a schema, as data and as messages.

use std::fmt;

use serde_json::Value;

/// Maximum length of an invalid value quoted in a message.
const LONGEST_QUOTE: usize = 100;

/// Why a value is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The field, such as `path[1].y`; empty for the value itself.
    pub field: String,
    /// What is wrong with it.
    pub problem: Problem,
    /// The error code that the schema defines.
    pub code: Option<String>,
}

/// Kinds of problems of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// A required field is missing.
    Missing,
    /// The field does not exist.
    Unknown {
        /// Names of the known fields.
        known: Vec<String>,
    },
    /// The value is not allowed.
    NotAllowed {
        /// Description of the value; `None` if it is secret.
        got: Option<String>,
        /// What is expected.
        expected: Expected,
    },
}

/// What is expected of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// One of these values.
    OneOf(Vec<String>),
    /// A description; several if there are alternatives.
    Words(Vec<String>),
}

impl Violation {
    /// What is allowed: values, names of fields, or a description.
    pub fn allowed(&self) -> Vec<String> {
        match &self.problem {
            Problem::Missing => Vec::new(),
            Problem::Unknown { known } => known.clone(),
            Problem::NotAllowed {
                expected: Expected::OneOf(list) | Expected::Words(list), ..
            } => list.clone(),
        }
    }

    /// Depth of the field in the value.
    pub(crate) fn depth(&self) -> usize {
        self.field.matches(['.', '[']).count() + usize::from(!self.field.is_empty())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = if self.field.is_empty() { "the body" } else { self.field.as_str() };
        match &self.problem {
            Problem::Missing => write!(f, "{field} is missing"),
            Problem::Unknown { known } => {
                let (within, name) = match self.field.rsplit_once('.') {
                    Some((within, name)) => (format!(" in {within}"), name),
                    None => (String::new(), self.field.as_str()),
                };
                match known.as_slice() {
                    [] => write!(f, "unknown field {name:?}{within}: no fields are known"),
                    known => write!(
                        f,
                        "unknown field {name:?}{within}: known fields are {}",
                        known.join(", ")
                    ),
                }
            }
            Problem::NotAllowed { got: Some(got), expected } => {
                write!(f, "{field} is {got}: expected {expected}")
            }
            Problem::NotAllowed { got: None, expected } => {
                write!(f, "{field}: expected {expected}")
            }
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::OneOf(list) | Self::Words(list)) = self;
        match list.as_slice() {
            [] => f.write_str("nothing"),
            [only] => f.write_str(only),
            [others @ .., last] => write!(f, "{} or {last}", others.join(", ")),
        }
    }
}

impl Expected {
    pub(crate) fn words(text: impl Into<String>) -> Self {
        Self::Words(vec![text.into()])
    }

    /// Combines alternatives.
    pub(crate) fn or(self, other: Self) -> Self {
        let both = |mut list: Vec<String>, more: Vec<String>| {
            list.extend(more);
            list.dedup();
            list
        };
        match (self, other) {
            (Self::OneOf(list), Self::OneOf(more)) => Self::OneOf(both(list, more)),
            (Self::OneOf(list) | Self::Words(list), Self::OneOf(more) | Self::Words(more)) => {
                Self::Words(both(list, more))
            }
        }
    }
}

/// A value as messages quote it.
pub fn quote(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) if text.chars().count() <= LONGEST_QUOTE => format!("{text:?}"),
        Value::String(text) => {
            let start: String = text.chars().take(LONGEST_QUOTE).collect();
            format!("{start:?}…")
        }
    }
}
