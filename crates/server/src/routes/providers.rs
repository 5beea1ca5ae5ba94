//! Providers of models, and their keys. A key is a credential of the vault.

use helmdeck_gateway::Provider;
use helmdeck_store::AuditEntry;
use helmdeck_wire::{
    ErrorCode,
    model::{KeyTest, NewProviderKey, ProviderKey, ProviderKeyList, ProviderList},
    vault::{Credential, CredentialType, NewCredential, SecretText},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, NoInput, Outcome},
};

/// The subject that stands for every caller.
const EVERYONE: &str = "*";

/// Which keys to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyFilter {
    /// Only keys of this provider.
    #[serde(default)]
    #[schemars(length(min = 1, max = 40))]
    provider: Option<String>,
}

/// A key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneKey {
    /// Its id.
    #[schemars(length(min = 1, max = 100))]
    id: String,
}

/// Replace a key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateKey {
    /// Id of the key.
    #[schemars(length(min = 1, max = 100))]
    id: String,
    /// The new key.
    key: SecretText,
}

/// A provider.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneProvider {
    /// Its name.
    #[schemars(length(min = 1, max = 40))]
    provider: String,
}

/// Lists providers.
pub async fn list(call: Call, _: NoInput) -> ApiResult<ProviderList> {
    let providers = call.app.models.providers(&call.caller).await?;
    Ok(ProviderList { count: providers.len(), providers })
}

/// Asks a provider whether it accepts the caller's key.
pub async fn test(call: Call, one: OneProvider) -> ApiResult<KeyTest> {
    let provider = provider(&call, &one.provider)?.name.clone();
    Ok(call.app.models.test_key(&call.caller, &provider, None).await?)
}

/// Lists keys.
pub async fn list_keys(call: Call, filter: KeyFilter) -> ApiResult<ProviderKeyList> {
    let all = call.app.vault.list(&call.caller, Some(CredentialType::ApiKey)).await?;
    let keys = all.into_iter().filter_map(|it| described(&call, it));
    let wanted = |key: &ProviderKey| filter.provider.as_ref().is_none_or(|it| *it == key.provider);
    let keys: Vec<_> = keys.filter(wanted).collect();
    Ok(ProviderKeyList { count: keys.len(), keys })
}

/// Adds a key.
pub async fn add_key(call: Call, new: NewProviderKey) -> ApiResult<ProviderKey> {
    let provider = provider(&call, &new.provider)?;
    if provider.is_local {
        let message = format!("{} needs no key", provider.name);
        return Err(
            ApiError::new(ErrorCode::InvalidInput, message).of_field("provider", Vec::new())
        );
    }
    let shared = new.shared.unwrap_or_else(|| call.caller.is_admin());
    if shared && !call.caller.is_admin() {
        let message = "only an admin can share a key with every caller: leave out shared";
        return Err(ApiError::new(ErrorCode::Forbidden, message).of_field("shared", Vec::new()));
    }
    let label = new.label.filter(|label| !label.is_empty());
    let metadata = label.map(|label| Map::from_iter([("label".to_owned(), json!(label))]));
    let credential = NewCredential {
        name: provider.key_name(),
        kind: CredentialType::ApiKey,
        host_pattern: provider.host_pattern(),
        path_pattern: None,
        value: None,
        plaintext_b64: None,
        metadata,
        owner: None,
    };
    let secret = new.key.reveal().trim().as_bytes().to_vec();
    let added = call.app.vault.add(&call.caller, credential, secret).await?;
    record(&call, "credential.added", &added);
    if shared {
        call.app.vault.grant(&call.caller, &added.id, EVERYONE, None).await?;
        let entry = AuditEntry::new("credential.granted").actor(&call.caller).target(&added.id);
        call.app.audit.record(entry.detail("subject", EVERYONE));
    }
    call.app.mcp.tools_may_differ();
    described(&call, added).ok_or_else(unknown)
}

/// Shows a key, without the key itself.
pub async fn show_key(call: Call, one: OneKey) -> ApiResult<ProviderKey> {
    let credential = call.app.vault.show(&call.caller, &one.id).await?;
    described(&call, credential).ok_or_else(unknown)
}

/// Replaces a key.
pub async fn rotate_key(call: Call, new: RotateKey) -> ApiResult<ProviderKey> {
    let credential = call.app.vault.show(&call.caller, &new.id).await?;
    described(&call, credential).ok_or_else(unknown)?;
    let secret = new.key.reveal().trim().as_bytes().to_vec();
    let rotated = call.app.vault.rotate(&call.caller, &new.id, secret).await?;
    record(&call, "credential.rotated", &rotated);
    described(&call, rotated).ok_or_else(unknown)
}

/// Deletes a key. The next call does without it.
pub async fn delete_key(call: Call, one: OneKey) -> ApiResult<Outcome> {
    let credential = call.app.vault.show(&call.caller, &one.id).await?;
    described(&call, credential.clone()).ok_or_else(unknown)?;
    call.app.vault.delete(&call.caller, &one.id).await?;
    record(&call, "credential.deleted", &credential);
    call.app.mcp.tools_may_differ();
    Ok(Outcome::done())
}

/// Asks the provider of a key whether it accepts it.
pub async fn test_key(call: Call, one: OneKey) -> ApiResult<KeyTest> {
    let credential = call.app.vault.show(&call.caller, &one.id).await?;
    let key = described(&call, credential).ok_or_else(unknown)?;
    Ok(call.app.models.test_key(&call.caller, &key.provider, Some(&key.id)).await?)
}

fn provider<'a>(call: &'a Call, name: &str) -> ApiResult<&'a Provider> {
    let settings = call.app.models.settings();
    settings.provider(name).ok_or_else(|| {
        let names = settings.providers.iter().map(|provider| provider.name.clone()).collect();
        let message =
            format!("no provider is called {name:?}; HELMDECK_MODEL_PROVIDERS adds others");
        ApiError::new(ErrorCode::InvalidInput, message).of_field("provider", names)
    })
}

/// A credential as a key; `None` if it is not one of a provider.
fn described(call: &Call, it: Credential) -> Option<ProviderKey> {
    let name = it.name.strip_suffix("-key")?;
    let provider = call.app.models.settings().provider(name)?.name.clone();
    let label = it.metadata.as_ref().and_then(|it| it.get("label")).and_then(Value::as_str);
    Some(ProviderKey {
        label: label.unwrap_or_default().to_owned(),
        id: it.id,
        provider,
        owner: it.owner,
        source: it.source,
        fingerprint: it.fingerprint,
        created_at: it.created_at,
        updated_at: it.updated_at,
        last_used_at: it.last_used_at,
    })
}

fn unknown() -> ApiError {
    let message = "there is no such key of a provider; GET /api/v1/providers/keys lists yours";
    ApiError::new(ErrorCode::NotFound, message)
}

fn record(call: &Call, event_type: &'static str, credential: &Credential) {
    let entry = AuditEntry::new(event_type).actor(&call.caller).target(&credential.name);
    let entry = entry.detail("id", credential.id.as_str());
    call.app.audit.record(entry.detail("host", credential.host_pattern.as_str()));
}
