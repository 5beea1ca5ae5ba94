//! Parses a client's message, and builds the errors that Chromium would return.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Chromium's error code for a session that does not exist.
pub(crate) const NO_SESSION: i64 = -32001;
/// Chromium's error code for failed calls.
pub(crate) const SERVER_ERROR: i64 = -32000;
/// Chromium's error code for invalid parameters.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// Chromium's error code for invalid JSON.
const PARSE_ERROR: i64 = -32700;
/// Chromium's error code for JSON that is not a message.
const INVALID_REQUEST: i64 = -32600;

/// The envelope of a client's message.
#[derive(Debug, Clone)]
pub struct ClientMessage<'a> {
    /// The client's id for the call.
    pub id: i32,
    /// The method.
    pub method: Cow<'a, str>,
    /// The session; none for the browser itself.
    pub session_id: Option<Cow<'a, str>>,
    /// The parameters, not parsed.
    pub params: Option<&'a RawValue>,
}

/// Text that is not a valid message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Malformed {
    /// The client's id for the call, if present.
    pub id: Option<i32>,
    /// The protocol's error code.
    pub code: i64,
    /// Chromium's error message.
    pub message: String,
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> ClientMessage<'a> {
    /// Parses a message without its parameters.
    pub fn at(text: &'a str) -> Result<Self, Malformed> {
        let malformed = |id: Option<i32>, code: i64, message: &str| Malformed {
            id,
            code,
            message: message.to_owned(),
        };
        let not_json =
            |error: serde_json::Error| malformed(None, PARSE_ERROR, &format!("JSON: {error}"));
        // Serde would accept an array as the fields in order.
        if !text.trim_ascii_start().starts_with('{') {
            serde_json::from_str::<&RawValue>(text).map_err(not_json)?;
            return Err(malformed(None, INVALID_REQUEST, "Message must be an object"));
        }
        let parts: Parts<'a> = serde_json::from_str(text).map_err(not_json)?;
        let wrong = |id, message| malformed(id, INVALID_REQUEST, message);
        let id = parts.id.and_then(|id| serde_json::from_str(id.get()).ok());
        let id: i32 = id.ok_or(wrong(None, "Message must have integer 'id' property"))?;
        let method = parts.method.and_then(words);
        let method = method.ok_or(wrong(Some(id), "Message must have string 'method' property"))?;
        let session_id = match parts.session_id {
            Some(raw) => Some(
                words(raw)
                    .ok_or(wrong(Some(id), "Message may have string 'sessionId' property"))?,
            ),
            None => None,
        };
        let session_id = session_id.filter(|session| !session.is_empty());
        Ok(Self { id, method, session_id, params: parts.params })
    }
}

impl Malformed {
    /// The answer to the client.
    pub fn answer(&self) -> String {
        refusal(self.id, None, self.code, &self.message)
    }
}

fn words(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

/// An error answer in Chromium's format.
pub fn refusal(id: Option<i32>, session_id: Option<&str>, code: i64, message: &str) -> String {
    #[derive(Serialize)]
    struct Refusal<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<i32>,
        error: Reason<'a>,
        #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
        session_id: Option<&'a str>,
    }
    #[derive(Serialize)]
    struct Reason<'a> {
        code: i64,
        message: &'a str,
    }
    let refusal = Refusal { id, error: Reason { code, message }, session_id };
    // Numbers and strings can always be serialized.
    serde_json::to_string(&refusal).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_parsed_in_any_spelling() {
        let text = r#" {"params": {"id": 8, "a":1 }, "\u0069d": 7, "sessionId": "\u0041", "method":"Page.enable"}"#;
        let peek = ClientMessage::at(text).unwrap();
        assert_eq!(
            (peek.id, &*peek.method, peek.session_id.as_deref()),
            (7, "Page.enable", Some("A"))
        );
        assert_eq!(peek.params.unwrap().get(), r#"{"id": 8, "a":1 }"#);
        assert!(
            ClientMessage::at(r#"{"id":1,"method":"M","sessionId":""}"#)
                .unwrap()
                .session_id
                .is_none()
        );
    }

    #[test]
    fn invalid_messages_are_answered_as_chromium_does() {
        let cases = [
            ("garbage", None, -32700),
            ("", None, -32700),
            (r#"{"id":1,"method":"M"} {}"#, None, -32700),
            (r#"{"id":1,"id":2,"method":"M"}"#, None, -32700),
            ("[1,\"M\"]", None, -32600),
            ("\"x\"", None, -32600),
            (r#"{"method":"M"}"#, None, -32600),
            (r#"{"id":"1","method":"M"}"#, None, -32600),
            (r#"{"id":1.5,"method":"M"}"#, None, -32600),
            (r#"{"id":2147483648,"method":"M"}"#, None, -32600),
            (r#"{"id":5}"#, Some(5), -32600),
            (r#"{"id":5,"method":3}"#, Some(5), -32600),
            (r#"{"id":5,"method":"M","sessionId":3}"#, Some(5), -32600),
        ];
        for (text, id, code) in cases {
            let malformed = ClientMessage::at(text).unwrap_err();
            assert_eq!((malformed.id, malformed.code), (id, code), "{text}");
        }
        let answer = ClientMessage::at(r#"{"id":5}"#).unwrap_err().answer();
        let chromium = r#"{"id":5,"error":{"code":-32600,"message":"Message must have string 'method' property"}}"#;
        assert_eq!(answer, chromium);
    }
}
