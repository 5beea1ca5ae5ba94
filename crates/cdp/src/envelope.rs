//! What is around every message. What is inside stays as it was written.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, de::Error as _};
use serde_json::value::RawValue;

/// How much of a broken message is looked at for the number it began with.
pub(crate) const HEAD: usize = 32;

/// A message in either direction: a question, an answer or an event.
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

/// The inside of an answer that is no.
#[derive(Deserialize)]
pub(crate) struct Refusal {
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

/// The inside of `Target.attachedToTarget` and `Target.detachedFromTarget`.
#[derive(Deserialize)]
pub(crate) struct Attachment<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub session: Cow<'a, str>,
    #[serde(default, rename = "waitingForDebugger")]
    pub waiting: bool,
}

impl<'a> Envelope<'a> {
    pub fn read(message: &'a [u8]) -> Result<Self, serde_json::Error> {
        // A list would be taken for the fields in their order.
        if !message.trim_ascii_start().starts_with(b"{") {
            return Err(serde_json::Error::custom("not an object"));
        }
        serde_json::from_slice(message)
    }

    pub fn write(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// The number of an answer that cannot be read as a whole, from how it begins.
pub(crate) fn id_at_start(message: &[u8]) -> Option<i32> {
    let digits = message.strip_prefix(b"{\"id\":")?;
    let end = digits.iter().take(HEAD).position(|byte| matches!(byte, b',' | b'}'))?;
    str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}
