//! Routes of the operation table with their access checks.

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};
use helmdeck_wire::ErrorCode;
use http::{Method, header};
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    App,
    auth::{self, RouteAccess},
    error::ApiError,
    model_api, request_log,
    routes::pages,
    table::operations,
};

/// Operations that are always answered, however busy the server is.
const HEALTH: [&str; 3] = ["healthz", "readyz", "version"];

/// The routes with their access checks, wrapped by the request log.
pub fn router(app: App) -> Router {
    let mut router = Router::new();
    for operation in operations() {
        let health = HEALTH.contains(&operation.id.as_str());
        let mcp = operation.id.starts_with("mcp");
        let models = operation.path.starts_with(model_api::PREFIX);
        let route = RouteAccess { app: app.clone(), access: operation.access, health, mcp, models };
        let mut guarded = operation.handler().route_layer(from_fn_with_state(route, auth::admit));
        if models {
            guarded = guarded.route_layer(from_fn(model_api::shape_errors));
        }
        router = router.route(&operation.path, guarded);
    }
    router
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(CatchPanicLayer::custom(request_log::panicked))
        .layer(from_fn_with_state(app.clone(), request_log::pass))
        .with_state(app)
}

async fn unknown_path(request: Request) -> Response {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if request.method() == Method::GET && accept.is_some_and(|accept| accept.contains("text/html"))
    {
        return pages::not_found();
    }
    let message = "this path does not exist; /api/v1/openapi.json lists all paths";
    ApiError::new(ErrorCode::NotFound, message).into_response()
}

async fn unknown_method(State(app): State<App>, path: MatchedPath, request: Request) -> ApiError {
    let allowed = app.methods(path.as_str()).join(" or ");
    let (method, path) = (request.method(), request.uri().path());
    let message = format!("{method} is not allowed at {path}: use {allowed}");
    ApiError::new(ErrorCode::MethodNotAllowed, message)
}
