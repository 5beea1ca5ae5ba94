//! Listing and revoking tokens.

use helmdeck_sessions::Caller;
use helmdeck_store::AuditEntry;
use helmdeck_wire::{
    ErrorCode,
    history::ActorKind,
    token::{CreatedToken, NewToken, TokenInfo, TokenList},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    connect,
    error::{ApiError, ApiResult},
    minting,
    tool::{Call, NoInput, Outcome},
};

/// A token.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneToken {
    /// Id of the token, as listed.
    id: String,
}

/// Lists the caller's tokens, or all tokens for an admin.
pub async fn list_tokens(call: Call, _: NoInput) -> ApiResult<TokenList> {
    Ok(TokenList { tokens: connect::tokens(&call.app, &call.caller).await? })
}

/// A new token for an agent.
pub async fn create_token(call: Call, wanted: NewToken) -> ApiResult<CreatedToken> {
    minting::mint(&call.app, &call.caller, wanted, None).await
}

/// Revokes a token immediately, and closes everything that was opened with it.
pub async fn revoke_token(call: Call, one: OneToken) -> ApiResult<Outcome> {
    let tokens = call.app.store.tokens(call.caller.limited_to()).await?;
    let token = tokens.into_iter().find(|token| token.id == one.id).ok_or_else(|| {
        let message = "the token does not exist or is not yours; /api/v1/tokens lists your tokens";
        ApiError::new(ErrorCode::NotFound, message)
    })?;
    may_revoke(&call.caller, &token)?;
    call.app.revoked.add(&token.id, token.expires_at).await?;
    let revoked = AuditEntry::new("token.revoked").actor(&call.caller).target(&token.id);
    let revoked = revoked.detail("subject", token.subject).detail("label", token.client);
    call.app.audit.record(revoked);
    Ok(Outcome::done())
}

/// A token can revoke itself and tokens that allow no more. An agent's token cannot revoke a
/// person's.
fn may_revoke(caller: &Caller, token: &TokenInfo) -> ApiResult<()> {
    if caller.is_admin() || token.id == caller.token {
        return Ok(());
    }
    if token.human && caller.kind == ActorKind::Agent {
        let message = "this token belongs to a person: log in to revoke it";
        return Err(ApiError::new(ErrorCode::PersonRequired, message));
    }
    match token.scopes.iter().find(|scope| !caller.covers(scope)) {
        None => Ok(()),
        Some(scope) => {
            let message = format!(
                "that token has the scope {scope}, which yours lacks: revoke it with one that has it"
            );
            Err(ApiError::new(ErrorCode::Forbidden, message))
        }
    }
}
