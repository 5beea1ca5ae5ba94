//! Browser extensions for sessions.

use helmdeck_store::AuditEntry;
use helmdeck_wire::extension::{Extension, ExtensionList, ExtensionName};
use http_body_util::BodyExt;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ApiResult,
    tool::{Call, Content, NoInput, Outcome},
};

/// An extension.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneExtension {
    /// Its name.
    name: ExtensionName,
}

/// A new extension.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewExtension {
    /// Its name.
    name: ExtensionName,
    /// The .zip or .crx file, in base64.
    content_base64: Option<String>,
}

/// Lists the caller's extensions.
pub async fn list_extensions(call: Call, _: NoInput) -> ApiResult<ExtensionList> {
    let extensions = call.app.sessions.extensions(&call.caller).await?;
    Ok(ExtensionList { extensions })
}

/// Adds or replaces an extension.
pub async fn add_extension(call: Call, new: NewExtension) -> ApiResult<Extension> {
    let content = Content { text: None, base64: new.content_base64 };
    let upload = call.content(content)?.map_err(Into::into).boxed_unsync();
    let added = call.app.sessions.add_extension(&call.caller, &new.name, upload).await?;
    let entry = AuditEntry::new("extension.added").actor(&call.caller).target(new.name.as_str());
    call.app.audit.record(entry);
    Ok(added)
}

/// Deletes an extension.
pub async fn delete_extension(call: Call, one: OneExtension) -> ApiResult<Outcome> {
    call.app.sessions.delete_extension(&call.caller, &one.name).await?;
    let entry = AuditEntry::new("extension.deleted").actor(&call.caller).target(one.name.as_str());
    call.app.audit.record(entry);
    Ok(Outcome::done())
}
