//! The guest's routes: maps paths to actions. Nothing is decided here.

use axum::{
    Json, Router,
    body::Body,
    extract::{DefaultBodyLimit, Query, Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use helmdeck_link::route;
use helmdeck_wire::{
    Action,
    body::BytesReply,
    browser::{
        ClickElement, Emulate, Execute, ExportHar, ExportState, Extract, HoverElement, ImportState,
        Interact, Markdown, Navigate, PageScreenshot, Pdf, PressKeys, ReadConsole, ReadNetwork,
        SelectOptions, Snapshot, Tabs, TypeInto, UploadFiles, WaitFor,
    },
    byte_range::Part,
    cast::CastView,
    clipboard::Clipboard,
    control::Hands,
    file::{FileList, FileStored},
    guest::{
        Begin, EndPrivate, ForwardedPorts, Frames, HandedOver, Hello, LINK_VERSION, OneClient,
        OneExtension, OneFile, SaveProfile, StartPrivate,
    },
    keyboard::{HoldKey, Key, Type},
    pointer::{
        Click, CursorPosition, DoubleClick, Drag, ModifierClick, MouseDown, MouseMove, MouseUp,
        Scroll, TripleClick,
    },
    private::PrivateEnded,
    process::{Launch, Launched},
    screen::{Format, Resize, Screenshot, Zoom},
    status::{Wait, Waited},
    ticket::Role,
    window::{Focus, ListWindows},
};
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, UPGRADE},
};
use hyper_util::rt::TokioIo;
use tokio::{io::copy_bidirectional_with_sizes, task::block_in_place};

use crate::{
    act, begin::Guest, cast, debugging, error::GuestError, exec, extension, files, handover,
    profile, thumbnails,
};

/// The largest request: a long text to type, or a clipboard.
const MAX_BODY: usize = 32 << 20;

/// The buffer for network connections of programs; a smaller one costs throughput.
const RELAY: usize = 64 << 10;

/// Routes actions to the display's methods: `Action => method as how_to_answer`.
macro_rules! on_display {
    ($router:expr, $($action:ident => $method:ident($($more:expr)?) as $answer:ident),* $(,)?) => {
        $router$(.route(&route::act($action::NAME), post(
            |State(guest): State<Guest>, Json(action): Json<$action>| async move {
                let reply = guest.display()?.$method(&action $(, $more)?).await.map_err(GuestError::from)?;
                Ok::<_, GuestError>($answer(reply))
            },
        )))*
    };
}

/// Routes actions to the structured browser's methods.
macro_rules! on_browser {
    ($router:expr, $($action:ident => $method:ident as $answer:ident),* $(,)?) => {
        $router$(.route(&route::act($action::NAME), post(
            |State(guest): State<Guest>, headers: HeaderMap, Json(action): Json<$action>| async move {
                let browser = guest.browser()?.in_hands(hands(&headers));
                Ok::<_, GuestError>($answer(browser.$method(&action).await?))
            },
        )))*
    };
}

/// The role of a viewer.
#[derive(serde::Deserialize)]
struct View {
    role: Role,
}

/// Every route of the guest.
pub fn router(guest: Guest) -> Router {
    let router = Router::new()
        .route(&route::act(Launch::NAME), post(launch))
        .route(&route::act(Wait::NAME), post(wait))
        .route(&route::act(Resize::NAME), post(resize))
        .route(&route::act(UploadFiles::NAME), post(upload))
        .route(&route::act(Screenshot::NAME), post(screenshot))
        .route(&route::act(Navigate::NAME), post(navigate))
        .route(&route::act(Tabs::NAME), post(tabs));
    let router = on_display!(router,
        Click => click() as Json,
        DoubleClick => double_click() as Json,
        TripleClick => triple_click() as Json,
        ModifierClick => modifier_click() as Json,
        MouseMove => mouse_move() as Json,
        MouseDown => mouse_down() as Json,
        MouseUp => mouse_up() as Json,
        Drag => drag() as Json,
        Scroll => scroll() as Json,
        CursorPosition => cursor_position() as Json,
        Type => type_text() as Json,
        Key => key() as Json,
        HoldKey => hold_key() as Json,
        Clipboard => clipboard() as Json,
        ListWindows => windows() as Json,
        Focus => focus() as Json,
        Zoom => zoom(Format::default()) as bytes,
    );
    let router = on_browser!(router,
        WaitFor => wait_for as Json,
        Execute => execute as Json,
        Extract => extract as Json,
        Snapshot => snapshot as Json,
        Markdown => markdown as Json,
        PageScreenshot => screenshot as bytes,
        Pdf => pdf as bytes,
        ReadConsole => console as Json,
        ReadNetwork => network as Json,
        ExportHar => har as Json,
        ClickElement => click as Json,
        TypeInto => type_into as Json,
        SelectOptions => select as Json,
        HoverElement => hover as Json,
        PressKeys => press as Json,
        Interact => interact as Json,
        ExportState => export_state as Json,
        ImportState => import_state as Json,
        Emulate => emulate as Json,
    );
    // Only actions count as activity: reading the log or the version does not.
    let actions = router.route_layer(from_fn_with_state(guest.clone(), count));
    let routes = actions
        .route(route::HELLO, get(hello))
        .route(route::BEGIN, post(begin))
        .route(route::WATCH, get(watch))
        .route(route::TUNNEL, get(tunnel))
        .route(route::FORWARDS, post(set_forwards))
        .route(route::RFB, get(view))
        .route(route::FRAMES, get(frames))
        .route(route::CDP, get(cdp))
        .route(route::CAST, get(show))
        .route(route::RELEASE_ALL, post(release_all))
        .route(route::PRIVATE, post(start_private))
        .route(route::END_PRIVATE, post(end_private))
        .route(route::FOLDER, get(folder))
        .route(route::PROFILE, get(save_profile).put(load_profile))
        .route(route::EXTENSION, put(load_extension))
        .route(route::FILE, get(read_file).put(write_file))
        .route(route::LOG, get(log))
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

/// Answers when a program opens an outgoing connection, and then carries that connection.
async fn tunnel(State(guest): State<Guest>, mut request: Request) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let client = guest.egress.next_client().await.ok_or(GuestError::NotBegun)?;
    let forwarded_port = client.forwarded_port;
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            client.relay(TokioIo::new(upgraded)).await;
        }
    });
    let headers = [(CONNECTION, "upgrade"), (UPGRADE, route::TUNNEL_PROTOCOL)];
    let mut response = (StatusCode::SWITCHING_PROTOCOLS, headers).into_response();
    if let Some(port) = forwarded_port {
        response.headers_mut().insert(route::FORWARDED_PORT, port.into());
    }
    Ok(response)
}

/// Sets the forwarded ports. Not available in attached sessions.
async fn set_forwards(
    State(guest): State<Guest>,
    Json(wanted): Json<ForwardedPorts>,
) -> Result<(), GuestError> {
    guest.ensure_own()?;
    guest.forwards.set(&wanted, &guest.egress).await
}

/// An RFB stream of the X server, for the role in the query.
async fn view(
    State(guest): State<Guest>,
    Query(view): Query<View>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let mut picture = guest.passwords()?.open(view.role).await?;
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            let mut server = TokioIo::new(upgraded);
            let _ = copy_bidirectional_with_sizes(&mut picture, &mut server, RELAY, RELAY).await;
        }
    });
    let headers = [(CONNECTION, "upgrade"), (UPGRADE, route::RFB_PROTOCOL)];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers).into_response())
}

/// A stream of thumbnails, sent when the session changes.
async fn frames(
    State(guest): State<Guest>,
    Query(wanted): Query<Frames>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let pictures = guest.pictures(wanted).await?;
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            thumbnails::send(pictures, TokioIo::new(upgraded)).await;
        }
    });
    let headers = [(CONNECTION, "upgrade"), (UPGRADE, route::FRAMES_PROTOCOL)];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers).into_response())
}

/// The browser's debugging protocol for one client.
async fn cdp(
    State(guest): State<Guest>,
    Query(whose): Query<OneClient>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let current = guest.cdp()?;
    let (browser, client) = debugging::open(&current, &whose).await?;
    let sandboxed = guest.attached().is_none();
    let incoming = guest.browser()?.incoming().filter(|_| current.is_own(&browser));
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            debugging::serve(&client, incoming, TokioIo::new(upgraded)).await;
        }
        drop(client);
        // The program that started a browser chose its download folder.
        if current.is_own(&browser) {
            debugging::tidy_up(&browser, sandboxed).await;
        }
    });
    let headers = [(CONNECTION, "upgrade"), (UPGRADE, route::CDP_PROTOCOL)];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers).into_response())
}

/// A cast of the browser's page for one viewer.
async fn show(
    State(guest): State<Guest>,
    Query(view): Query<CastView>,
    Query(whose): Query<OneClient>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let browser = guest.browser()?;
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            cast::serve(&browser, &whose.key, view, TokioIo::new(upgraded)).await;
        }
    });
    let headers = [(CONNECTION, "upgrade"), (UPGRADE, route::CAST_PROTOCOL)];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers).into_response())
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
        guest.frozen.freeze(&session.nest).await;
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
    let starting = tokio::spawn(async move { guest.start_private(wanted).await });
    starting.await.unwrap_or(Err(GuestError::Ended("chromium")))
}

async fn end_private(
    State(guest): State<Guest>,
    Json(wanted): Json<EndPrivate>,
) -> Result<Json<PrivateEnded>, GuestError> {
    let ending = tokio::spawn(async move { guest.end_private(wanted).await });
    ending.await.unwrap_or(Err(GuestError::Ended("chromium"))).map(Json)
}

async fn folder(
    State(guest): State<Guest>,
    Query(folder): Query<OneFile>,
) -> Result<Json<FileList>, GuestError> {
    guest.ensure_own()?;
    Ok(Json(block_in_place(|| files::list(&folder.path))?))
}

async fn read_file(
    State(guest): State<Guest>,
    Query(file): Query<OneFile>,
) -> Result<Response, GuestError> {
    guest.ensure_own()?;
    guest.activity.touch();
    let range = file.range;
    let (mut file, size) = block_in_place(|| files::read(&file.path))?;
    let Some(range) = range else {
        let body = Body::from_stream(files::pieces(file, size));
        return Ok(([(CONTENT_LENGTH, size)], body).into_response());
    };
    let Part { first, length } = range.of(size).unwrap_or(Part { first: size, length: 0 });
    block_in_place(|| files::skip(&mut file, first))?;
    let facts = [(route::FILE_FIRST, first), (route::FILE_SIZE, size)];
    let facts = facts.map(|(name, value)| (HeaderName::from_static(name), value));
    let body = Body::from_stream(files::pieces(file, length));
    Ok((facts, [(CONTENT_LENGTH, length)], body).into_response())
}

async fn write_file(
    State(guest): State<Guest>,
    Query(file): Query<OneFile>,
    body: Body,
) -> Result<Json<FileStored>, GuestError> {
    guest.ensure_own()?;
    guest.activity.touch();
    let stored = files::store(file, body.into_data_stream()).await;
    guest.activity.touch();
    Ok(Json(stored?))
}

/// Only before the browser starts: later it would overwrite open files.
async fn load_profile(State(guest): State<Guest>, body: Body) -> Result<(), GuestError> {
    guest.ensure_empty()?;
    *guest.cookies.lock() = profile::load(body.into_data_stream()).await?;
    Ok(())
}

/// Only before the browser starts: later it could see a partial extension.
async fn load_extension(
    State(guest): State<Guest>,
    Query(extension): Query<OneExtension>,
    body: Body,
) -> Result<(), GuestError> {
    guest.ensure_empty()?;
    extension::unpack(&extension.name, body.into_data_stream()).await
}

async fn save_profile(
    State(guest): State<Guest>,
    Query(wanted): Query<SaveProfile>,
) -> Result<Body, GuestError> {
    let current = guest.session()?.cdp;
    Ok(Body::from_stream(profile::save(&current, &guest.leaving, wanted.last).await?))
}

async fn log(State(guest): State<Guest>) -> String {
    guest.log.text()
}

/// A screenshot of the whole desktop, including its panel.
async fn screenshot(
    State(guest): State<Guest>,
    Json(action): Json<Screenshot>,
) -> Result<impl IntoResponse, GuestError> {
    guest.panel.drawn().await;
    Ok(bytes(guest.display()?.screenshot(&action, Format::default()).await?))
}

async fn launch(
    State(guest): State<Guest>,
    Json(launch): Json<Launch>,
) -> Result<Json<Launched>, GuestError> {
    Ok(Json(act::launch(&guest.session()?, launch).await?))
}

/// The screen size of an attached display is not changed.
async fn resize(
    State(guest): State<Guest>,
    Json(resize): Json<Resize>,
) -> Result<Json<<Resize as Action>::Reply>, GuestError> {
    guest.ensure_own()?;
    Ok(Json(guest.display()?.resize(&resize).await?))
}

/// On whose behalf this call uses the browser.
fn hands(headers: &HeaderMap) -> Hands {
    let named = headers.get(route::HANDS).and_then(|hands| hands.to_str().ok());
    Hands::named(named.unwrap_or_default())
}

async fn navigate(
    State(guest): State<Guest>,
    headers: HeaderMap,
    Json(navigate): Json<Navigate>,
) -> Result<Json<<Navigate as Action>::Reply>, GuestError> {
    guest.hand_over_page(navigate.url.as_deref())?;
    Ok(Json(guest.browser()?.in_hands(hands(&headers)).navigate(&navigate).await?))
}

async fn tabs(
    State(guest): State<Guest>,
    headers: HeaderMap,
    Json(tabs): Json<Tabs>,
) -> Result<Json<<Tabs as Action>::Reply>, GuestError> {
    guest.hand_over_page(tabs.url.as_deref())?;
    Ok(Json(guest.browser()?.in_hands(hands(&headers)).tabs(&tabs).await?))
}

/// Files come from the home, which attached sessions do not have.
async fn upload(
    State(guest): State<Guest>,
    Json(upload): Json<UploadFiles>,
) -> Result<Json<<UploadFiles as Action>::Reply>, GuestError> {
    guest.ensure_own()?;
    for file in &upload.files {
        handover::file(file)?;
    }
    Ok(Json(guest.browser()?.upload(&upload).await?))
}

async fn wait(Json(wait): Json<Wait>) -> Json<Waited> {
    Json(act::wait(wait).await)
}

/// A reply whose body is not JSON, with metadata in headers.
fn bytes(reply: impl BytesReply) -> Response {
    let (media_type, facts) = (reply.media_type(), reply.facts());
    let mut response = reply.into_bytes().into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    for (name, value) in facts {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    response
}

impl IntoResponse for GuestError {
    fn into_response(self) -> Response {
        // The link reads the body; the status only separates errors from replies.
        (StatusCode::UNPROCESSABLE_ENTITY, Json(self.body())).into_response()
    }
}
