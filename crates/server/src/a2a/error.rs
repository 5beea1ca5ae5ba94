//! Errors of the protocol.

use helmdeck_wire::ErrorCode;
use serde_json::{Value, json};

use crate::error::ApiError;

/// Why a request failed.
#[derive(Debug)]
pub enum Failure {
    /// An error of JSON-RPC or A2A.
    Rpc(RpcError),
    /// The caller may not do this: an error of HTTP.
    Http(ApiError),
}

/// An error of JSON-RPC or A2A.
#[derive(Debug)]
pub struct RpcError {
    code: i32,
    reason: String,
    message: String,
    field: Option<String>,
}

impl RpcError {
    /// An error. `reason` is for programs.
    pub fn new(code: i32, reason: &str, message: impl Into<String>) -> Self {
        Self { code, reason: reason.to_owned(), message: message.into(), field: None }
    }

    /// The body is not JSON.
    pub fn not_json(message: impl Into<String>) -> Self {
        Self::new(-32700, "INVALID_JSON", message)
    }

    /// The body is not a request.
    pub fn not_a_request(message: impl Into<String>) -> Self {
        Self::new(-32600, "INVALID_REQUEST", message)
    }

    /// The method does not exist.
    pub fn unknown_method(method: &str) -> Self {
        Self::new(-32601, "METHOD_NOT_FOUND", format!("the method {method:?} does not exist"))
    }

    /// A parameter is wrong.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        let error = Self::new(-32602, "INVALID_PARAMS", message);
        Self { field: Some(field.to_owned()), ..error }
    }

    /// The task has ended.
    pub fn not_cancelable(message: impl Into<String>) -> Self {
        Self::new(-32002, "TASK_NOT_CANCELABLE", message)
    }

    /// There are no push notifications.
    pub fn no_push() -> Self {
        let message = "there are no push notifications: pass webhook_url in the skill's input";
        Self::new(-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", message)
    }

    /// The operation is not supported.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(-32004, "UNSUPPORTED_OPERATION", message)
    }

    /// A part is not supported.
    pub fn content_type(message: impl Into<String>) -> Self {
        Self::new(-32005, "CONTENT_TYPE_NOT_SUPPORTED", message)
    }

    /// There is no card besides the public one.
    pub fn no_extended_card() -> Self {
        let message = "the card is the same for all: GET /.well-known/agent-card.json";
        Self::new(-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", message)
    }

    /// The version is not supported.
    pub fn version(asked: &str) -> Self {
        let message = format!("version {asked:?} is not supported: use 1.0 or 0.3");
        Self::new(-32009, "VERSION_NOT_SUPPORTED", message)
    }

    /// The error as JSON.
    pub fn body(&self) -> Value {
        let mut detail = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": self.reason,
            "domain": "a2a-protocol.org",
        });
        if let (Some(field), Value::Object(detail)) = (&self.field, &mut detail) {
            detail.insert("metadata".to_owned(), json!({ "field": field }));
        }
        json!({ "code": self.code, "message": self.message, "data": [detail] })
    }
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Self {
        Self::Rpc(error)
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        let code = match error.code {
            ErrorCode::UnknownJob => -32001,
            ErrorCode::InvalidInput | ErrorCode::UnknownPack => -32602,
            ErrorCode::QuotaExceeded => -32603,
            _ => return Self::Http(error),
        };
        let reason = error.code.as_str().to_ascii_uppercase();
        Self::Rpc(RpcError { code, reason, message: error.message, field: error.field })
    }
}
