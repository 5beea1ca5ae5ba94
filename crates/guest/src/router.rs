//! The guest's routes: maps paths to actions. Nothing is decided here.

mod actions;
mod files;
mod streams;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Query, Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use helmdeck_link::route;
use helmdeck_wire::{
    guest::{
        Begin, EndPrivate, ForwardedPorts, HandedOver, Hello, LINK_VERSION, LimitSites,
        RefusedSites, StartPrivate,
    },
    private::PrivateEnded,
    trace::{ReadTrace, TraceLog, TracePicture},
};
use http::StatusCode;

use crate::{begin::Guest, error::GuestError, exec, json::Json};

/// The largest request: a long text to type, or a clipboard.
const MAX_BODY: usize = 32 << 20;

/// Every route of the guest.
pub fn router(guest: Guest) -> Router {
    // Only actions count as activity: reading the log or the version does not.
    let actions = actions::routes().route_layer(from_fn_with_state(guest.clone(), count));
    let routes = actions
        .route(route::HELLO, get(hello))
        .route(route::BEGIN, post(begin))
        .route(route::WATCH, get(watch))
        .route(route::TUNNEL, get(streams::tunnel))
        .route(route::FORWARDS, post(set_forwards))
        .route(route::RFB, get(streams::view))
        .route(route::FRAMES, get(streams::frames))
        .route(route::CDP, get(streams::cdp))
        .route(route::CAST, get(streams::show))
        .route(route::RELEASE_ALL, post(release_all))
        .route(route::PRIVATE, post(start_private))
        .route(route::END_PRIVATE, post(end_private))
        .route(route::SITES, post(limit_sites))
        .route(route::FOLDER, get(files::folder))
        .route(route::PROFILE, get(files::save_profile).put(files::load_profile))
        .route(route::EXTENSION, put(files::load_extension))
        .route(route::FILE, get(files::read_file).put(files::write_file))
        .route(route::LOG, get(log))
        .route(route::TRACE, get(trace))
        .route(route::TRACE_PICTURE, get(trace_picture))
        .merge(exec::routes());
    routes.layer(DefaultBodyLimit::max(MAX_BODY)).with_state(guest)
}

async fn count(State(guest): State<Guest>, request: Request, next: Next) -> Response {
    guest.activity.count();
    let response = next.run(request).await;
    guest.activity.touch();
    response
}

async fn hello(State(guest): State<Guest>) -> Json<Hello> {
    let measured = *guest.measured.lock();
    Json(Hello {
        link_version: LINK_VERSION,
        actions: guest.activity.actions(),
        memory_bytes: measured.map(|usage| usage.memory_bytes),
        pids: measured.map(|usage| usage.pids),
        proxy: guest.proxy.lock().clone(),
    })
}

async fn begin(State(guest): State<Guest>, Json(begin): Json<Begin>) -> Result<(), GuestError> {
    guest.begin(begin)
}

async fn watch(State(guest): State<Guest>) -> Body {
    Body::from_stream(guest.reports.lines())
}

/// Sets the forwarded ports. Not available in attached sessions.
async fn set_forwards(
    State(guest): State<Guest>,
    Json(wanted): Json<ForwardedPorts>,
) -> Result<(), GuestError> {
    guest.ensure_own()?;
    guest.forwards.set(&wanted, &guest.egress).await
}

async fn release_all(
    State(guest): State<Guest>,
    Json(handed_over): Json<HandedOver>,
) -> Result<(), GuestError> {
    let HandedOver { to_person, key } = handed_over;
    if !to_person {
        guest.frozen.thaw().await;
    }
    if let Ok(current) = guest.cdp() {
        current.hand_over(key.as_deref().filter(|_| to_person)).await;
    }
    if let Ok(browser) = guest.browser() {
        browser.handed_over(to_person);
    }
    guest.end_private_of_others(key.as_deref()).await;
    if to_person && let Ok(session) = guest.session() {
        guest.frozen.freeze(&session.nest, &guest.log).await;
    }
    // Without a screen, only viewers of the browser hold keys, and they release them themselves.
    match guest.display() {
        Ok(display) => Ok(display.release_all().await?),
        Err(_) => Ok(()),
    }
}

/// Runs to completion when the server disconnects: a partial private sign-in would block everyone.
async fn start_private(
    State(guest): State<Guest>,
    Json(wanted): Json<StartPrivate>,
) -> Result<(), GuestError> {
    let starting = helmdeck_task::spawn(async move { guest.start_private(wanted).await });
    starting.await.unwrap_or(Err(GuestError::Ended("chromium")))
}

async fn end_private(
    State(guest): State<Guest>,
    Json(wanted): Json<EndPrivate>,
) -> Result<Json<PrivateEnded>, GuestError> {
    let ending = helmdeck_task::spawn(async move { guest.end_private(wanted).await });
    ending.await.unwrap_or(Err(GuestError::Ended("chromium"))).map(Json)
}

/// Runs to completion when the server disconnects: requests of a half-made limit would wait.
async fn limit_sites(
    State(guest): State<Guest>,
    Json(wanted): Json<LimitSites>,
) -> Result<Json<RefusedSites>, GuestError> {
    let browser = guest.browser()?;
    let LimitSites { owner, sites } = wanted;
    let limiting = helmdeck_task::spawn(async move { browser.limit_sites(&owner, sites).await });
    match limiting.await {
        Ok(limited) => Ok(Json(limited?)),
        Err(_) => Err(GuestError::Ended("chromium")),
    }
}

async fn log(State(guest): State<Guest>) -> String {
    guest.log.text()
}

async fn trace(State(guest): State<Guest>, Query(wanted): Query<ReadTrace>) -> Json<TraceLog> {
    Json(guest.trace.read(&wanted))
}

async fn trace_picture(
    State(guest): State<Guest>,
    Query(wanted): Query<TracePicture>,
) -> Result<Bytes, GuestError> {
    guest.trace.picture(&wanted.picture).await
}

impl IntoResponse for GuestError {
    fn into_response(self) -> Response {
        // The link reads the body; the status only separates errors from replies.
        (StatusCode::UNPROCESSABLE_ENTITY, Json(self.body())).into_response()
    }
}
