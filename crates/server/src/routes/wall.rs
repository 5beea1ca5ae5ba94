//! Small live pictures of many sessions over one connection.

use axum::{Extension, extract::State, response::Response};
use helmdeck_sessions::Caller;
use http::request::Parts;

use crate::{
    App,
    error::ApiResult,
    token::Claims,
    wall::{MAX_MESSAGE, serve},
};

/// Pictures of the caller's sessions that the page requests.
pub async fn wall(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(token): Extension<Claims>,
    mut parts: Parts,
) -> ApiResult<Response> {
    let upgrade = super::live::upgrade(&mut parts, &app).await?;
    Ok(super::live::accept(upgrade.max_message_size(MAX_MESSAGE), async move |socket| {
        let live = app.live.clone();
        live.track_future(serve(app, caller, token.info().expires_at, socket)).await;
    }))
}
