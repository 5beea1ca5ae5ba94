//! Ids of models: `provider/model`, where the model may have slashes.

use std::fmt;

use crate::Invalid;

/// The longest id.
const MAX: usize = 200;

/// What ids of models look like, for schemas.
pub const MODEL_ID_PATTERN: &str =
    "^[A-Za-z0-9._:@+-]+(/[A-Za-z0-9._:@+-]*[A-Za-z0-9_:@+-][A-Za-z0-9._:@+-]*)+$";
/// The same in words.
pub const MODEL_ID_EXPECTED: &str =
    "provider/model, such as openai/gpt-4o-mini; GET /v1/models lists them";

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelId {
    /// The provider.
    pub provider: String,
    /// The model, as the provider calls it.
    pub model: String,
}

impl ModelId {
    /// Parses an id.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let Some((provider, model)) = text.split_once('/') else {
            let reason = format!(
                "{text:?} names no provider: use an id such as openai/gpt-4o-mini; \
                 GET /v1/models lists them"
            );
            return Err(Invalid::new("model", reason));
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "._:/@+-".contains(c);
        // The name of the model may become a part of an address.
        let leads_away =
            model.split('/').any(|part| part.is_empty() || part == "." || part == "..");
        if text.len() > MAX || provider.is_empty() || leads_away || !text.chars().all(plain) {
            let reason = "expected provider/model in letters, digits and . _ : / @ + -";
            return Err(Invalid::new("model", reason));
        }
        Ok(Self { provider: provider.to_ascii_lowercase(), model: model.to_owned() })
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_slash_ends_the_provider() {
        let id = ModelId::parse("openrouter/minimax/minimax-m2.7:free").unwrap();
        assert_eq!(
            (id.provider.as_str(), id.model.as_str()),
            ("openrouter", "minimax/minimax-m2.7:free")
        );
        assert_eq!(id.to_string(), "openrouter/minimax/minimax-m2.7:free");
        for bad in ["", "gpt-4o", "/x", "openai/", "gemini/../x", "gemini/a?b", "a/b c", "a//b"] {
            assert_eq!(ModelId::parse(bad).unwrap_err().field, "model", "{bad}");
        }
    }
}
