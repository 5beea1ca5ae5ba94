//! Browser contexts: each has separate cookies, storage and permissions, like a profile.

use serde::Deserialize;
use serde_json::Value;

/// A context id; without one, the browser's default context. Programs create others, for example
/// with Playwright's `newContext`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Context(Option<String>);

impl Context {
    /// Adds this context to the parameters of a call.
    pub fn about(&self, mut params: Value) -> Value {
        if let (Some(params), Some(name)) = (params.as_object_mut(), &self.0) {
            params.insert("browserContextId".to_owned(), name.as_str().into());
        }
        params
    }
}
