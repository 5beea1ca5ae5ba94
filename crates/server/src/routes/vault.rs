//! Credentials of the vault, their grants and their usage.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_store::AuditEntry;
use helmdeck_wire::{
    Done, ErrorCode,
    vault::{
        Credential, CredentialList, CredentialType, GrantList, NewCredential, Rekeyed, SecretText,
        UsageList,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, NoInput, Outcome},
};

/// Which credentials to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CredentialFilter {
    /// Only this type.
    #[serde(default, rename = "type")]
    kind: Option<CredentialType>,
}

/// A credential.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneCredential {
    /// Its id.
    #[schemars(length(min = 1, max = 100))]
    id: String,
}

/// Replace the secret of a credential, with `value` or `plaintext_b64`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateCredential {
    /// Its id.
    #[schemars(length(min = 1, max = 100))]
    id: String,
    /// The new secret, as text.
    #[serde(default)]
    value: Option<SecretText>,
    /// The new secret, as base64.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_plaintext_b64"))]
    plaintext_b64: Option<SecretText>,
}

/// Grant a credential.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGrant {
    /// Id of the credential.
    #[schemars(length(min = 1, max = 100))]
    id: String,
    /// Subject of the tokens that may use it; `*` for all.
    #[schemars(length(min = 1, max = 200), extend("x-missing" = "missing_subject"))]
    actor_subject: String,
    /// Label of the tokens that may use it. Default: all labels.
    #[serde(default)]
    #[schemars(length(max = 100))]
    actor_client: Option<String>,
}

/// A grant.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneGrant {
    /// Id of the credential.
    #[schemars(length(min = 1, max = 100))]
    id: String,
    /// The subject.
    #[schemars(length(min = 1, max = 200))]
    subject: String,
    /// The label, if the grant has one.
    #[serde(default)]
    #[schemars(length(max = 100))]
    client: Option<String>,
}

/// Lists credentials.
pub async fn list_credentials(call: Call, filter: CredentialFilter) -> ApiResult<CredentialList> {
    let credentials = call.app.vault.list(&call.caller, filter.kind).await?;
    Ok(CredentialList { count: credentials.len(), credentials })
}

/// Adds a credential.
pub async fn create_credential(call: Call, mut new: NewCredential) -> ApiResult<Credential> {
    let secret = secret(new.value.take(), new.plaintext_b64.take())?;
    let added = call.app.vault.add(&call.caller, new, secret).await?;
    record(&call, "credential.added", &added);
    // It may be the key of a provider of models.
    call.app.mcp.tools_may_differ();
    Ok(added)
}

/// Shows a credential.
pub async fn show_credential(call: Call, one: OneCredential) -> ApiResult<Credential> {
    Ok(call.app.vault.show(&call.caller, &one.id).await?)
}

/// Replaces a secret.
pub async fn rotate_credential(call: Call, new: RotateCredential) -> ApiResult<Credential> {
    let secret = secret(new.value, new.plaintext_b64)?;
    let rotated = call.app.vault.rotate(&call.caller, &new.id, secret).await?;
    record(&call, "credential.rotated", &rotated);
    Ok(rotated)
}

/// Deletes a credential.
pub async fn delete_credential(call: Call, one: OneCredential) -> ApiResult<Outcome> {
    let credential = call.app.vault.show(&call.caller, &one.id).await?;
    call.app.vault.delete(&call.caller, &one.id).await?;
    record(&call, "credential.deleted", &credential);
    call.app.mcp.tools_may_differ();
    Ok(Outcome::done())
}

/// Lists grants.
pub async fn list_grants(call: Call, one: OneCredential) -> ApiResult<GrantList> {
    let grants = call.app.vault.grants(&call.caller, &one.id).await?;
    Ok(GrantList { count: grants.len(), grants })
}

/// Grants a credential.
pub async fn add_grant(call: Call, new: NewGrant) -> ApiResult<Done> {
    let client = new.actor_client.as_deref();
    call.app.vault.grant(&call.caller, &new.id, &new.actor_subject, client).await?;
    record_grant(&call, "credential.granted", &new.id, &new.actor_subject, client);
    call.app.mcp.tools_may_differ();
    Ok(Done::OK)
}

/// Takes back a grant.
pub async fn remove_grant(call: Call, one: OneGrant) -> ApiResult<Outcome> {
    let client = one.client.as_deref();
    call.app.vault.revoke(&call.caller, &one.id, &one.subject, client).await?;
    record_grant(&call, "credential.grant_revoked", &one.id, &one.subject, client);
    call.app.mcp.tools_may_differ();
    Ok(Outcome::done())
}

/// Lists usage.
pub async fn list_usage(call: Call, one: OneCredential) -> ApiResult<UsageList> {
    let usage = call.app.vault.usage(&call.caller, &one.id).await?;
    Ok(UsageList { count: usage.len(), usage })
}

/// Replaces the vault's key.
pub async fn rekey(call: Call, _: NoInput) -> ApiResult<Rekeyed> {
    let rekeyed = call.app.vault.rekey().await?;
    call.app.audit.record(AuditEntry::new("vault.key_replaced").actor(&call.caller));
    Ok(rekeyed)
}

fn record(call: &Call, event_type: &'static str, credential: &Credential) {
    let entry = AuditEntry::new(event_type).actor(&call.caller).target(&credential.name);
    let entry = entry.detail("id", credential.id.as_str());
    call.app.audit.record(entry.detail("host", credential.host_pattern.as_str()));
}

fn record_grant(
    call: &Call,
    event_type: &'static str,
    id: &str,
    subject: &str,
    label: Option<&str>,
) {
    let entry = AuditEntry::new(event_type).actor(&call.caller).target(id);
    call.app.audit.record(entry.detail("subject", subject).detail("label", label));
}

/// The secret of a request, which no error repeats.
fn secret(value: Option<SecretText>, base64: Option<SecretText>) -> ApiResult<Vec<u8>> {
    match (value, base64) {
        (Some(text), None) => Ok(text.reveal().as_bytes().to_vec()),
        (None, Some(text)) => BASE64_STANDARD.decode(text.reveal().trim()).map_err(|_| {
            let message = "plaintext_b64 is not base64: encode the secret, or send it as value";
            ApiError::new(ErrorCode::InvalidPlaintextB64, message)
                .of_field("plaintext_b64", Vec::new())
        }),
        (None, None) => {
            let message = "value is missing: send the secret as value or as plaintext_b64";
            Err(ApiError::new(ErrorCode::InvalidInput, message).of_field("value", Vec::new()))
        }
        (Some(_), Some(_)) => {
            let message = "value and plaintext_b64 are both given: choose one";
            Err(ApiError::new(ErrorCode::InvalidInput, message).of_field("value", Vec::new()))
        }
    }
}
