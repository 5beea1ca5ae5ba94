//! Looking after tokens.

use axum::{
    Extension, Json,
    extract::{Path, State},
};
use helmdeck_sessions::Caller;
use helmdeck_wire::{
    ErrorCode,
    history::ActorKind,
    token::{TokenInfo, TokenList},
};
use http::StatusCode;

use crate::{
    App,
    error::{ApiError, ApiResult},
};

/// The caller's tokens; all of them, for an admin.
pub async fn list_tokens(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> ApiResult<Json<TokenList>> {
    let subject = (!caller.is_admin()).then_some(caller.subject.as_str());
    Ok(Json(TokenList { tokens: app.store.tokens(subject).await? }))
}

/// The end of a token, at once, with everything that was opened with it.
pub async fn revoke_token(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let subject = (!caller.is_admin()).then_some(caller.subject.as_str());
    let tokens = app.store.tokens(subject).await?;
    let token = tokens.into_iter().find(|token| token.id == id).ok_or_else(|| {
        let message = "there is no such token, or it is not yours; /api/v1/tokens lists them";
        ApiError::new(ErrorCode::NotFound, message)
    })?;
    may_revoke(&caller, &token)?;
    app.revoked.add(&token.id, token.expires_at).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A token ends itself and those that allow no more than it does. An agent's never ends a person's.
fn may_revoke(caller: &Caller, token: &TokenInfo) -> ApiResult<()> {
    if caller.is_admin() || token.id == caller.token {
        return Ok(());
    }
    if token.human && caller.kind == ActorKind::Agent {
        let message = "this token is a person's: log in to revoke it";
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
