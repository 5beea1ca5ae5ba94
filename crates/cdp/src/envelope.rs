//! The envelope of every message. Its content is not parsed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, de::Error as _};
use serde_json::value::RawValue;

/// How many bytes of an unreadable message are searched for its id.
pub(crate) const HEAD: usize = 32;

/// A message in either direction: call, answer or event.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i32>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub method: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub params: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub result: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId", skip_serializing_if = "Option::is_none")]
    pub session: Option<Cow<'a, str>>,
}

/// An error answer.
#[derive(Deserialize)]
pub(crate) struct Refusal {
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

/// The parameters of `Target.attachedToTarget` and `Target.detachedFromTarget`.
#[derive(Deserialize)]
pub(crate) struct Attachment<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub session: Cow<'a, str>,
    #[serde(default, rename = "waitingForDebugger")]
    pub waiting: bool,
}

impl<'a> Envelope<'a> {
    pub fn read(message: &'a [u8]) -> Result<Self, serde_json::Error> {
        // Serde would accept an array as the fields in order.
        if !message.trim_ascii_start().starts_with(b"{") {
            return Err(serde_json::Error::custom("not an object"));
        }
        serde_json::from_slice(message)
    }

    pub fn write(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// The id of an answer that cannot be parsed, from its first bytes.
pub(crate) fn id_at_start(message: &[u8]) -> Option<i32> {
    let digits = message.strip_prefix(b"{\"id\":")?;
    let end = digits.iter().take(HEAD).position(|byte| matches!(byte, b',' | b'}'))?;
    str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}
