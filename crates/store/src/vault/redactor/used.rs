//! The secrets that this process used, for logs and records that do not know where a text came from.

use std::{borrow::Cow, sync::LazyLock};

use parking_lot::RwLock;
use serde_json::Value;

use super::{Redactor, Secret};

/// How many secrets are remembered. After that, all are forgotten but the newest.
const MOST: usize = 4096;

static USED: LazyLock<RwLock<Redactor>> = LazyLock::new(RwLock::default);

/// Remembers a secret that was used.
pub fn remember(secret: &Secret) {
    let mut used = USED.write();
    if used.len() >= MOST {
        *used = Redactor::default();
    }
    used.add(secret);
}

/// The value without secrets that this process used.
pub fn redact_used_json(value: Value) -> Value {
    let used = USED.read();
    if used.is_empty() { value } else { used.apply_json(value) }
}

/// The text without secrets that this process used. One-time codes are not remembered.
pub fn redact_used(bytes: &[u8]) -> Cow<'_, [u8]> {
    let used = USED.read();
    if used.is_empty() { Cow::Borrowed(bytes) } else { used.apply_bytes(bytes) }
}
