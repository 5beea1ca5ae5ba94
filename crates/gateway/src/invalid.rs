//! Requests and replies that cannot be understood.

use std::borrow::Cow;

/// A request that is wrong, or cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct Invalid {
    /// The field.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Invalid {
    /// A field, and what is wrong with it.
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }

    /// A field that the model's provider has no equivalent for.
    pub fn untranslatable(field: &str) -> Self {
        let reason = "the provider of this model has no equivalent: leave it out, or call a model \
                      whose provider speaks this API";
        Self::new(field, reason)
    }

    fn message(&self) -> String {
        match self.field.as_str() {
            "" => self.reason.clone(),
            field => format!("{field}: {}", self.reason),
        }
    }
}

/// A reply that is not what the provider's API promises.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(Cow<'static, str>);

impl Malformed {
    /// A reply without an answer.
    pub const NO_CHOICES: Self = Self(Cow::Borrowed("model returned no choices"));
    /// An answer without content.
    pub const NO_MESSAGE: Self = Self(Cow::Borrowed("model returned no message"));

    /// A reply, and what is wrong with it.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Cow::Owned(message.into()))
    }
}
