//! The id of a JSON-RPC request.

use serde_json::Value;

/// An id, as JSON: `1` and `"1"` are different ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id(String);

impl Id {
    /// The id in this value. `None` for null, which is the id of no request.
    pub fn of(value: &Value) -> Option<Self> {
        (!value.is_null()).then(|| Self(value.to_string()))
    }

    /// The value.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}
