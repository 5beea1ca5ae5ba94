//! Browser contexts: each has cookies, storage and permissions of its own, as a profile has.

use serde::Deserialize;
use serde_json::Value;

/// A context, by the browser's name for it; without a name, the one that the browser begins with.
/// Programs make others, such as Playwright by `newContext`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Context(Option<String>);

impl Context {
    /// A question to the browser, about this context.
    pub fn about(&self, mut params: Value) -> Value {
        if let (Some(params), Some(name)) = (params.as_object_mut(), &self.0) {
            params.insert("browserContextId".to_owned(), name.as_str().into());
        }
        params
    }
}
