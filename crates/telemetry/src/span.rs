//! A span that has ended.

use std::time::SystemTime;

use crate::SpanContext;

/// A piece of work, with its time and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Its identity.
    pub context: SpanContext,
    /// The span that it is a part of.
    pub parent: Option<[u8; 8]>,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// When it began.
    pub began: SystemTime,
    /// When it ended.
    pub ended: SystemTime,
    /// What is known of it.
    pub attributes: Vec<(&'static str, Value)>,
    /// Why it failed, as a short code, if it did.
    pub error: Option<String>,
}

/// How a span relates to others, with the numbers of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Work inside the server.
    Internal = 1,
    /// The answer to a request.
    Server = 2,
    /// A request to another server.
    Client = 3,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// A decimal number.
    Decimal(f64),
    /// Yes or no.
    Flag(bool),
    /// A list of texts.
    List(Vec<String>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u16> for Value {
    fn from(number: u16) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Decimal(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<Vec<String>> for Value {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}
