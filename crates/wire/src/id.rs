//! Ids as separate types, so that they cannot be mixed up.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Id of a session, valid as long as the session is remembered.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Pattern of all ids that [`Self::from_random`] makes.
    pub const PATTERN: &str = "^sess-[0-9a-hjkmnp-tv-z]{12}$";
    /// What the pattern allows, for errors.
    pub const EXPECTED: &str = "the id of a session, `sess-` and twelve letters or digits";

    /// Wraps text from a client. The session need not exist.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// A new id from random bytes: `sess-` and twelve easily readable characters.
    pub fn from_random(bytes: [u8; 12]) -> Self {
        Self(readable("sess-", bytes))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A prefix and one easily readable character for each byte.
pub(crate) fn readable(prefix: &str, bytes: [u8; 12]) -> String {
    const ALPHABET: [char; 32] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h',
        'j', 'k', 'm', 'n', 'p', 'q', 'r', 's', 't', 'v', 'w', 'x', 'y', 'z',
    ];
    let tail = bytes.iter().filter_map(|b| ALPHABET.get(usize::from(b & 31)));
    prefix.chars().chain(tail.copied()).collect()
}
