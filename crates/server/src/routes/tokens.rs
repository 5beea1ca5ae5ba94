//! Looking after tokens.

use axum::{
    Extension, Json,
    extract::{Path, State},
};
use helmdeck_sessions::Caller;
use helmdeck_wire::{ErrorCode, token::TokenList};
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
    app.revoked.add(&token.id, token.expires_at).await?;
    Ok(StatusCode::NO_CONTENT)
}
