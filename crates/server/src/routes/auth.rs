//! Logging in.

use axum::{Extension, Json, extract::State};

use crate::{
    App,
    body::Body,
    error::ApiResult,
    login::{Credentials, LoggedIn},
    serve::Peer,
};

/// A token for the admin's user name and password.
pub async fn login(
    State(app): State<App>,
    Extension(Peer(peer)): Extension<Peer>,
    Body(credentials): Body<Credentials>,
) -> ApiResult<Json<LoggedIn>> {
    Ok(Json(app.login.log_in(&app.store, &app.signer, credentials, peer).await?))
}
