//! Tests of the store through its public API: files, and databases of other versions.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod extensions;
mod migration;
mod profiles;
mod schema_18;
mod sealed_profiles;

use serde_json::json;

/// A valid name of a profile or an extension.
fn name<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(json!(text)).unwrap()
}
