//! The link's routes of a fake guest.

use std::{convert::Infallible, future::pending, io};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, Query, Request, State},
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use futures_util::stream;
use helmdeck_link::route;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    byte_range::Part,
    cast::CastView,
    file::{FileList, FileStored},
    guest::{Begin, ExecOutput, Hello, OneFile, PictureRequest, RefusedSites},
    private::PrivateEnded,
    screen::{Format, header},
    session::Mode,
    size::Geometry,
    trace::TraceLog,
};
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, UPGRADE},
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncWriteExt, copy_bidirectional};

use super::{
    cast, cdp, exec,
    guest::{FakeGuest, call_of},
    picture::{PDF, picture},
    rfb,
    row::{Reply, Row},
};

/// Same as in the real guest.
const MAX_BODY: usize = 32 << 20;
/// Screen pixels per picture pixel.
const SCALE: u16 = 10;

/// A refusal.
struct Refused(ErrorBody);

type Answer<T = Response> = Result<T, Refused>;

/// Every route of the link.
pub fn router(guest: FakeGuest) -> Router {
    Router::new()
        .route(route::HELLO, get(hello))
        .route(route::BEGIN, post(begin))
        .route(route::WATCH, get(watch))
        .route(route::LOG, get(log))
        .route(route::TRACE, get(trace))
        .route(route::TRACE_PICTURE, get(trace_picture))
        .route(&route::act("{name}"), post(act))
        .route(route::RELEASE_ALL, post(noted))
        .route(route::FORWARDS, post(noted))
        .route(route::PRIVATE, post(noted))
        .route(route::SITES, post(limit_sites))
        .route(route::END_PRIVATE, post(end_private))
        .route(route::FOLDER, get(folder))
        .route(route::FILE, get(read_file).put(write_file))
        .route(route::PROFILE, get(save_profile).put(load))
        .route(route::EXTENSION, put(load))
        .route(route::EXECS, get(exec::list).post(exec::start))
        .route(route::EXEC, get(exec::show))
        .route(route::KILL_EXEC, post(exec::kill))
        .route(route::EXEC_OUTPUT, get(exec_output))
        .route(route::TUNNEL, get(tunnel))
        .route(route::RFB, get(view))
        .route(route::FRAMES, get(frames))
        .route(route::CDP, get(debug))
        .route(route::CAST, get(show))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(guest)
}

async fn hello(State(guest): State<FakeGuest>) -> Answer<Json<Hello>> {
    guest.decide("hello").await.map_err(Refused)?;
    let state = guest.shared.state.lock();
    Ok(Json(Hello {
        link_version: state.link_version,
        actions: state.actions,
        memory_bytes: None,
        pids: None,
        proxy: state.begin.as_ref().and_then(|begin| begin.proxy.clone()),
    }))
}

async fn begin(State(guest): State<FakeGuest>, Json(begin): Json<Begin>) -> Answer<()> {
    if guest.begin(begin) {
        return Ok(());
    }
    Err(refused(ErrorCode::Internal, "the session has already started"))
}

async fn watch(State(guest): State<FakeGuest>) -> Body {
    let reports = (guest.shared.reports.subscribe(), 0);
    Body::from_stream(stream::unfold(reports, |(mut reports, next)| async move {
        let report = {
            let told = reports.wait_for(|told| told.len() > next).await.ok()?;
            serde_json::to_string(&told[next]).expect("JSON")
        };
        Some((Ok::<_, Infallible>(format!("{report}\n")), (reports, next + 1)))
    }))
}

async fn log(State(guest): State<FakeGuest>) -> Answer<String> {
    guest.decide("log").await.map_err(Refused)?;
    Ok(guest.shared.state.lock().log.clone())
}

async fn trace(State(guest): State<FakeGuest>) -> Answer<Json<TraceLog>> {
    guest.decide("trace").await.map_err(Refused)?;
    Ok(Json(TraceLog::default()))
}

async fn trace_picture(State(guest): State<FakeGuest>) -> Answer<Vec<u8>> {
    guest.decide("trace_picture").await.map_err(Refused)?;
    Ok(picture(Format::Jpeg, 16, 9).to_vec())
}

/// Any action: held, refused or answered as a test set it; otherwise answered with a sample.
async fn act(
    State(guest): State<FakeGuest>,
    Path(name): Path<String>,
    headers: HeaderMap,
    Json(asked): Json<Value>,
) -> Answer {
    let hands = headers.get(route::HANDS).and_then(|hands| hands.to_str().ok());
    let noted = guest.note(&name, asked.clone(), hands.unwrap_or_default());
    guest.shared.state.lock().actions += 1;
    if !guest.is_ready() {
        return Err(refused(ErrorCode::SessionStarting, "the session is not ready"));
    }
    let decided = guest.decide(&name).await;
    noted.answered();
    if let Some(answer) = decided.map_err(Refused)? {
        return Ok(Json(answer).into_response());
    }
    let row = Row::of_action(&name);
    if row.is_some_and(|row| row.path.starts_with("/api/v1/desktop/")) {
        on_screen(&screen(&guest)?, &asked)?;
    }
    let row =
        row.ok_or_else(|| refused(ErrorCode::Internal, "the API has no row for this action"))?;
    match &row.reply {
        Reply::Bytes(types) if types.iter().any(|it| it == "application/pdf") => {
            Ok(([(CONTENT_TYPE, "application/pdf")], PDF).into_response())
        }
        Reply::Bytes(_) => Ok(screenshot(&guest, &asked)),
        Reply::Json(_) => Ok(Json(row.answer(&asked)).into_response()),
        Reply::Nothing | Reply::Upgrade => Ok(Json(Value::Null).into_response()),
    }
}

/// The screen's size; a refusal in headless sessions.
fn screen(guest: &FakeGuest) -> Answer<Geometry> {
    let desktop = guest.begun_with().filter(|begin| begin.mode == Mode::Desktop);
    let none = || refused(ErrorCode::NotDesktopMode, "the session has no desktop");
    desktop.map(|begin| begin.geometry).ok_or_else(none)
}

/// Refuses points off the screen, like the real guest.
fn on_screen(screen: &Geometry, asked: &Value) -> Answer<()> {
    let fields = asked.as_object().into_iter().flatten();
    for (name, value) in fields {
        let most = match name.as_str() {
            "x" | "start_x" | "end_x" => screen.width,
            "y" | "start_y" | "end_y" => screen.height,
            "path" => {
                for point in value.as_array().into_iter().flatten() {
                    on_screen(screen, point)?;
                }
                continue;
            }
            _ => continue,
        };
        if value.as_f64().is_some_and(|value| value >= f64::from(most)) {
            let (width, height) = (screen.width, screen.height);
            let message = format!("{name}: {value} is outside the screen of {width}x{height}");
            return Err(refused(ErrorCode::InvalidCoordinates, &message));
        }
    }
    Ok(())
}

/// A picture of a tenth of the screen's size, in the requested format.
fn screenshot(guest: &FakeGuest, asked: &Value) -> Response {
    let format: Format = serde_json::from_value(asked["format"].clone()).unwrap_or_default();
    let size = guest.begun_with().map(|begin| begin.geometry);
    let (width, height) = size.map_or((128, 72), |it| (it.width / SCALE, it.height / SCALE));
    let number = guest.shared.state.lock().actions;
    let body = picture(format, width, height);
    let facts = [
        (CONTENT_TYPE, format.media_type().to_owned()),
        (HeaderName::from_static(header::ID), format!("shot-{number}")),
        (HeaderName::from_static(header::SIZE), format!("{width}x{height}")),
        (HeaderName::from_static(header::ORIGIN), "0,0".to_owned()),
        (HeaderName::from_static(header::SCALE), (1.0 / f64::from(SCALE)).to_string()),
    ];
    (facts.map(|(name, value)| (name, HeaderValue::from_str(&value).expect("ASCII"))), body)
        .into_response()
}

/// A recorded call that succeeds unless a test set a refusal.
async fn noted(State(guest): State<FakeGuest>, request: Request) -> Answer<()> {
    let call = call_of(request.uri().path()).to_owned();
    let body = axum::body::to_bytes(request.into_body(), MAX_BODY).await.unwrap_or_default();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let noted = guest.note(&call, body, "");
    let decided = guest.decide(&call).await;
    noted.answered();
    decided.map(|_| ()).map_err(Refused)
}

async fn limit_sites(
    State(guest): State<FakeGuest>,
    Json(asked): Json<Value>,
) -> Answer<Json<RefusedSites>> {
    let limits = !asked["sites"].is_null();
    let noted = guest.note("sites", asked, "");
    let decided = guest.decide("sites").await;
    noted.answered();
    let refused = decided.map_err(Refused)?.filter(|_| limits && guest.forget_answer("sites"));
    Ok(Json(refused.and_then(|urls| serde_json::from_value(urls).ok()).unwrap_or_default()))
}

async fn end_private(
    State(guest): State<FakeGuest>,
    Json(asked): Json<Value>,
) -> Answer<Json<PrivateEnded>> {
    let url = (asked["keep"] == true).then(|| "about:blank".to_owned());
    let noted = guest.note("private/end", asked, "");
    let decided = guest.decide("private/end").await;
    noted.answered();
    decided.map_err(Refused)?;
    Ok(Json(PrivateEnded { url }))
}

async fn folder(
    State(guest): State<FakeGuest>,
    Query(folder): Query<OneFile>,
) -> Answer<Json<FileList>> {
    guest.shared.home.lock().list(&folder.path).map(Json).map_err(Refused)
}

async fn read_file(State(guest): State<FakeGuest>, Query(file): Query<OneFile>) -> Answer {
    let content = guest.shared.home.lock().read(&file.path).map_err(Refused)?;
    let Some(range) = file.range else { return Ok(content.into_response()) };
    let size = content.len() as u64;
    let Part { first, length } = range.of(size).unwrap_or(Part { first: size, length: 0 });
    let facts = [(route::FILE_FIRST, first), (route::FILE_SIZE, size)];
    let facts = facts.map(|(name, value)| (HeaderName::from_static(name), value));
    let part = content.slice(first as usize..(first + length) as usize);
    Ok((facts, [(CONTENT_LENGTH, length)], part).into_response())
}

async fn write_file(
    State(guest): State<FakeGuest>,
    Query(file): Query<OneFile>,
    body: Body,
) -> Answer<Json<FileStored>> {
    let noted = guest.note("file", Value::String(file.path.to_string()), "");
    let Ok(content) = axum::body::to_bytes(body, usize::MAX).await else {
        return Err(refused(ErrorCode::Internal, "the upload ended early"));
    };
    let decided = guest.decide("file").await;
    noted.answered();
    decided.map_err(Refused)?;
    guest.shared.home.lock().write(&file, content).map(Json).map_err(Refused)
}

/// Accepts and discards a profile or an extension.
async fn load(State(guest): State<FakeGuest>, request: Request) -> Answer<()> {
    if guest.begun_with().is_some() {
        return Err(refused(ErrorCode::Internal, "the session has already started"));
    }
    let call = call_of(request.uri().path()).to_owned();
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap_or_default();
    guest.note(&call, Value::from(body.len()), "").answered();
    Ok(())
}

/// An empty archive: two zero blocks.
async fn save_profile() -> Bytes {
    Bytes::from_static(&[0; 1024])
}

/// Answers when a program inside connects, and then carries its bytes.
async fn tunnel(State(guest): State<FakeGuest>, request: Request) -> Response {
    let Some(mut dial) = guest.shared.dialled.lock().await.recv().await else {
        return pending().await;
    };
    let port = dial.forwarded_port;
    let mut response = upgrade(&guest, request, route::TUNNEL_PROTOCOL, async move |mut server| {
        copy_bidirectional(&mut dial.stream, &mut server).await.map(|_| ())
    });
    if let Some(port) = port {
        response.headers_mut().insert(route::FORWARDED_PORT, port.into());
    }
    response
}

async fn exec_output(
    State(guest): State<FakeGuest>,
    Query(wanted): Query<ExecOutput>,
    request: Request,
) -> Result<Response, exec::Refusal> {
    if exec::set(&guest, &wanted.id).is_none() {
        exec::known(&wanted.id)?;
    }
    let ran = guest.clone();
    Ok(upgrade(&guest, request, route::EXEC_PROTOCOL, async move |mut server| {
        exec::output(&ran, &mut server, wanted.id).await
    }))
}

async fn view(State(guest): State<FakeGuest>, request: Request) -> Answer {
    let screen = screen(&guest)?;
    let shown = guest.clone();
    Ok(upgrade(&guest, request, route::RFB_PROTOCOL, async move |server| {
        rfb::serve(&shown, &screen, server).await
    }))
}

/// One picture at once, and another whenever the screen changes.
async fn frames(
    State(guest): State<FakeGuest>,
    Query(wanted): Query<PictureRequest>,
    request: Request,
) -> Answer {
    guest.decide("frames").await.map_err(Refused)?;
    let mut changes = guest.shared.changes.subscribe();
    Ok(upgrade(&guest, request, route::FRAMES_PROTOCOL, async move |mut server| {
        loop {
            let jpeg = picture(Format::Jpeg, wanted.width as u16, wanted.width as u16 / 2);
            server.write_u32(jpeg.len() as u32).await?;
            server.write_all(&jpeg).await?;
            if changes.changed().await.is_err() {
                return Ok(());
            }
        }
    }))
}

async fn debug(State(guest): State<FakeGuest>, request: Request) -> Answer {
    guest.decide("cdp").await.map_err(Refused)?;
    let debugged = guest.clone();
    Ok(upgrade(&guest, request, route::CDP_PROTOCOL, async move |server| {
        cdp::serve(&debugged, server).await
    }))
}

async fn show(
    State(guest): State<FakeGuest>,
    Query(view): Query<CastView>,
    request: Request,
) -> Answer {
    guest.decide("cast").await.map_err(Refused)?;
    let shown = guest.clone();
    Ok(upgrade(&guest, request, route::CAST_PROTOCOL, async move |server| {
        cast::serve(&shown, view, server).await;
        Ok(())
    }))
}

/// Upgrades a connection, and leaves it to `serve` while the guest lives.
fn upgrade<F, S>(
    guest: &FakeGuest,
    mut request: Request,
    protocol: &'static str,
    serve: S,
) -> Response
where
    S: FnOnce(TokioIo<Upgraded>) -> F + Send + 'static,
    F: Future<Output = io::Result<()>> + Send,
{
    let upgraded = hyper::upgrade::on(&mut request);
    let dead = guest.shared.dead.clone();
    tokio::spawn(async move {
        let Ok(upgraded) = upgraded.await else { return };
        tokio::select! {
            // Ends when either side disconnects.
            _ = serve(TokioIo::new(upgraded)) => {}
            () = dead.cancelled() => {}
        }
    });
    let headers = [(CONNECTION, "upgrade"), (UPGRADE, protocol)];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

fn refused(code: ErrorCode, message: &str) -> Refused {
    Refused(ErrorBody::new(code, message))
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (StatusCode::UNPROCESSABLE_ENTITY, Json(self.0)).into_response()
    }
}
