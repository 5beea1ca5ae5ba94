//! Every operation of the API: the table of contents, and the routes made from it.

use axum::{Router, extract::Request, middleware::from_fn_with_state};
use helmdeck_sessions::Scope::{MetricsRead, SessionsRead, SessionsWrite};
use helmdeck_wire::{
    Done, ErrorCode,
    clipboard::Clipboard,
    keyboard::{HoldKey, Key, Type},
    pointer::{
        Click, CursorPosition, DoubleClick, Drag, ModifierClick, MouseDown, MouseMove, MouseUp,
        Scroll, TripleClick,
    },
    process::Launch,
    screen::{Resize, Screenshot, Zoom},
    session::{Session, SessionList, SessionSpec},
    status::{AgentStatus, Wait},
    window::{Focus, ListWindows, Windows},
};
use http::StatusCode;
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    App,
    auth::{self, Gate},
    error::ApiError,
    login::{Credentials, LoggedIn},
    operation::{
        Access::{Needs, Open},
        Operation, action, delete, description, get, on_desktop, picture, post,
    },
    routes::{auth as login, desktop, health, home, metrics, openapi, sessions},
    seam,
};

/// The table.
pub fn operations() -> Vec<Operation> {
    vec![
        // The server itself.
        get("/", Open, "home", home::home)
            .doc("A page that says what this is.")
            .returns_text("text/html"),
        get("/healthz", Open, "healthz", health::healthz)
            .doc("Whether the server runs. Checks nothing else.")
            .returns::<health::Health>(),
        get("/readyz", Open, "readyz", health::readyz)
            .doc("Whether the server can do its work: the store and the runtime answer.")
            .returns::<health::Health>(),
        get("/version", Open, "version", health::version)
            .doc("Which helmdeck this is.")
            .returns::<health::Version>(),
        get("/metrics", Needs(MetricsRead), "metrics", metrics::metrics)
            .doc("The server's figures, for Prometheus.")
            .returns_text(metrics::MEDIA_TYPE),
        get("/api/v1/openapi.json", Open, "openapi", openapi::openapi)
            .doc("This document.")
            .returns::<serde_json::Value>(),
        post("/api/v1/auth/login", Open, "login", login::login)
            .doc("Log in with the admin's user name and password; the token is good for 12 hours.")
            .takes::<Credentials>()
            .returns::<LoggedIn>(),
        // Sessions.
        post("/api/v1/sessions", Needs(SessionsWrite), "create_session", sessions::create_session)
            .doc("Create a session. Answers when it is ready, or at once with `wait=false`.")
            .query::<sessions::CreateQuery>()
            .takes_as::<SessionSpec>(sessions::create_schema, false)
            .returns::<Session>()
            .status(StatusCode::CREATED),
        get("/api/v1/sessions", Needs(SessionsRead), "list_sessions", sessions::list_sessions)
            .doc("The sessions the caller may see, oldest first.")
            .returns::<SessionList>(),
        get("/api/v1/sessions/{id}", Needs(SessionsRead), "show_session", sessions::show_session)
            .doc("One session.")
            .returns::<Session>(),
        delete("/api/v1/sessions/{id}", Needs(SessionsWrite), "end_session", sessions::end_session)
            .doc("End a session. Succeeds if there is none, or none of the caller's.")
            .status(StatusCode::NO_CONTENT),
        get(
            "/api/v1/sessions/{id}/logs",
            Needs(SessionsRead),
            "session_logs",
            sessions::session_logs,
        )
        .doc("What the session's programs wrote, newest last.")
        .query::<sessions::LogsQuery>()
        .returns_text("text/plain"),
        // The screen.
        picture::<Screenshot>(),
        picture::<Zoom>(),
        action::<Resize>(),
        // The mouse.
        action::<Click>(),
        action::<DoubleClick>(),
        action::<TripleClick>(),
        action::<ModifierClick>(),
        action::<MouseMove>(),
        action::<MouseDown>(),
        action::<MouseUp>(),
        action::<Drag>(),
        action::<Scroll>(),
        action::<CursorPosition>(),
        // The keyboard and the clipboard.
        action::<Type>(),
        action::<Key>(),
        action::<HoldKey>(),
        action::<Clipboard>(),
        // Programs and windows.
        action::<Launch>(),
        get("/api/v1/desktop/windows", desktop::ACT, "desktop_windows", desktop::list_windows)
            .doc(&description::<ListWindows>())
            .query::<desktop::WindowsQuery>()
            .returns::<Windows>(),
        action::<Focus>(),
        // Pacing, and telling people.
        action::<Wait>(),
        on_desktop::<AgentStatus, _, _>(desktop::set_agent_status).returns::<Done>(),
    ]
}

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
