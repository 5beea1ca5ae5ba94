//! The routes of the operation table, behind their gates.

use axum::{Router, extract::Request, middleware::from_fn_with_state};
use helmdeck_wire::ErrorCode;
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    App,
    auth::{self, Gate},
    error::ApiError,
    seam,
    table::operations,
};

/// The routes of the table, behind their gates, inside the seam.
pub fn router(app: App) -> Router {
    let mut router = Router::new();
    for operation in operations() {
        let gate = Gate { app: app.clone(), access: operation.access };
        let guarded = operation.handler.route_layer(from_fn_with_state(gate, auth::admit));
        router = router.route(&operation.path, guarded);
    }
    router
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(CatchPanicLayer::custom(seam::panicked))
        .layer(from_fn_with_state(app.clone(), seam::pass))
        .with_state(app)
}

async fn unknown_path() -> ApiError {
    let message = "there is nothing at this path; /api/v1/openapi.json lists what there is";
    ApiError::new(ErrorCode::NotFound, message)
}

async fn unknown_method(request: Request) -> ApiError {
    let message = format!("{} does not work here; see the Allow header", request.method());
    ApiError::new(ErrorCode::MethodNotAllowed, message)
}
