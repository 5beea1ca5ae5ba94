//! Credentials of the vault, as clients create and see them. Their secrets are only ever sent in.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use time::OffsetDateTime;

use crate::names::names;

/// The largest secret, in bytes.
pub const MAX_SECRET: usize = 64 << 10;
/// The smallest secret, in bytes. A shorter one could not be recognised in outputs.
pub const MIN_SECRET: usize = 4;
/// The largest metadata, in bytes of JSON.
pub const MAX_METADATA: usize = 8 << 10;

/// What a credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CredentialType {
    /// A key or token.
    ApiKey,
    /// A user name and a password, as JSON: `{"username": "…", "password": "…"}`.
    Login,
    /// Cookies, as a JSON array.
    Cookie,
    /// OAuth tokens, as JSON.
    Oauth,
    /// A private SSH key.
    Ssh,
    /// The key of one-time codes: base32, or an `otpauth://totp/` address. Its use yields the
    /// current code.
    Totp,
}

names! {
    CredentialType:
    ApiKey "api_key", Login "login", Cookie "cookie", Oauth "oauth", Ssh "ssh", Totp "totp",
}

/// Where a credential is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CredentialSource {
    /// In the vault.
    Vault,
    /// In a variable of the server. Every caller can use it, for its host only.
    Environment,
}

/// A secret that a client sends. Replies, errors and logs never show it.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretText(
    #[schemars(length(min = 4, max = 65_536), extend("x-secret" = true, "writeOnly" = true))]
    String,
);

impl SecretText {
    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The error does not quote the value, whatever it is.
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            _ => Err(serde::de::Error::custom("expected a string")),
        }
    }
}

/// Add a credential to the vault. Its secret is `value` or `plaintext_b64`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCredential {
    /// Name for placeholders, such as `github-token` in `${vault:github-token}`. Unique among the
    /// owner's credentials.
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = "^[A-Za-z0-9_.-]+$"),
        extend("x-expected" = "1 to 64 letters, digits, `-`, `_` or `.`")
    )]
    pub name: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: CredentialType,
    /// The host that may receive it: `api.example.com`, or `*.example.com` for all subdomains; with
    /// `:port` only for that port.
    #[schemars(
        length(max = 260),
        regex(
            pattern = r"^(\*\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)+|[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*)(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?$"
        )
    )]
    #[schemars(extend("x-expected" = "a host such as api.example.com or *.example.com, without scheme and path"))]
    pub host_pattern: String,
    /// The paths that may receive it: `/v1` allows `/v1` and everything below. Default: all.
    #[serde(default)]
    #[schemars(length(max = 1000), regex(pattern = r"^/[^\s?#]*$"))]
    #[schemars(extend("x-expected" = "a path such as /v1"))]
    pub path_pattern: Option<String>,
    /// The secret, as text.
    #[serde(default)]
    pub value: Option<SecretText>,
    /// The secret, as base64.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_plaintext_b64"))]
    pub plaintext_b64: Option<SecretText>,
    /// Notes for programs, which are not secret; at most 8 KiB of JSON.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// Who owns it; you by default. Only an admin may name another.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub owner: Option<String>,
}

/// A credential, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Credential {
    /// Id, such as `cred_…`.
    pub id: String,
    /// Name for placeholders.
    pub name: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: CredentialType,
    /// Who owns it; empty for one of the environment.
    pub owner: String,
    /// Where it is kept.
    pub source: CredentialSource,
    /// The host that may receive it.
    pub host_pattern: String,
    /// The paths that may receive it; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_pattern: Option<String>,
    /// Differs for different secrets. Only this server can compute it.
    pub fingerprint: String,
    /// Notes for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// When it was added.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// When its secret last changed.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub updated_at: OffsetDateTime,
    /// When it was last used.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub last_used_at: Option<OffsetDateTime>,
}

/// Credentials that the caller may manage.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CredentialList {
    /// The credentials, by name.
    pub credentials: Vec<Credential>,
    /// How many there are.
    pub count: usize,
}

/// The right of a caller to use a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CredentialGrant {
    /// Subject of the tokens that may use it; `*` for all.
    pub actor_subject: String,
    /// Label of the tokens that may use it; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_client: Option<String>,
    /// When it was granted.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// Who granted it.
    pub created_by: String,
}

/// Who may use a credential.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GrantList {
    /// The grants, oldest first.
    pub grants: Vec<CredentialGrant>,
    /// How many there are.
    pub count: usize,
}

/// How an attempt to use a credential ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageResult {
    /// It was used.
    Allowed,
    /// The caller has no grant.
    Denied,
    /// The host or path does not match.
    NoMatch,
}

names! { UsageResult: Allowed "allowed", Denied "denied", NoMatch "no_match" }

/// One attempt to use a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CredentialUsage {
    /// Number of the attempt.
    pub id: u64,
    /// The credential.
    pub credential_id: String,
    /// Subject of the caller.
    pub actor_subject: String,
    /// Label of the caller's token; empty if it has none.
    pub actor_client: String,
    /// The host it was for.
    pub host_matched: String,
    /// The path it was for.
    pub path_matched: String,
    /// How it ended.
    pub result: UsageResult,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub timestamp: OffsetDateTime,
}

/// Attempts to use a credential.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UsageList {
    /// Newest first, at most 100.
    pub usage: Vec<CredentialUsage>,
    /// How many are listed.
    pub count: usize,
}

/// The vault after its key was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rekeyed {
    /// Number of the new key.
    pub key_version: u32,
    /// How many credentials were sealed again.
    pub credentials: usize,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_and_results_are_named_as_in_json() {
        for kind in CredentialType::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(CredentialType::named(kind.as_str()), Some(kind));
        }
        for result in UsageResult::ALL {
            assert_eq!(serde_json::to_value(result).unwrap(), result.as_str());
            assert_eq!(UsageResult::named(result.as_str()), Some(result));
        }
    }

    #[test]
    fn a_secret_is_not_shown_when_it_is_printed_or_refused() {
        let new: NewCredential = serde_json::from_value(json!({
            "name": "a", "type": "api_key", "host_pattern": "a.example", "value": "hunter2",
        }))
        .unwrap();
        assert!(!format!("{new:?}").contains("hunter2"));
        let refused = serde_json::from_value::<SecretText>(json!(["hunter2"])).unwrap_err();
        assert!(!refused.to_string().contains("hunter2"));
    }
}
