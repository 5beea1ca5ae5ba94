//! The guest's routes: maps paths to actions. Nothing is decided here.

mod files;
mod streams;

use axum::{
    Json, Router,
    body::Body,
    extract::{DefaultBodyLimit, Request, State},
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
    clipboard::Clipboard,
    control::Hands,
    guest::{Begin, EndPrivate, ForwardedPorts, HandedOver, Hello, LINK_VERSION, StartPrivate},
    keyboard::{HoldKey, Key, Type},
    pointer::{
        Click, CursorPosition, DoubleClick, Drag, ModifierClick, MouseDown, MouseMove, MouseUp,
        Scroll, TripleClick,
    },
    private::PrivateEnded,
    process::{Launch, Launched},
    screen::{Format, Resize, Screenshot, Zoom},
    status::{Wait, Waited},
    window::{Focus, ListWindows},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header::CONTENT_TYPE};

use crate::{act, begin::Guest, error::GuestError, exec, handover};

/// The largest request: a long text to type, or a clipboard.
const MAX_BODY: usize = 32 << 20;

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
        .route(route::TUNNEL, get(streams::tunnel))
        .route(route::FORWARDS, post(set_forwards))
        .route(route::RFB, get(streams::view))
        .route(route::FRAMES, get(streams::frames))
        .route(route::CDP, get(streams::cdp))
        .route(route::CAST, get(streams::show))
        .route(route::RELEASE_ALL, post(release_all))
        .route(route::PRIVATE, post(start_private))
        .route(route::END_PRIVATE, post(end_private))
        .route(route::FOLDER, get(files::folder))
        .route(route::PROFILE, get(files::save_profile).put(files::load_profile))
        .route(route::EXTENSION, put(files::load_extension))
        .route(route::FILE, get(files::read_file).put(files::write_file))
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
