//! Actions on the desktop and in the browser.

use std::{future::ready, sync::Arc};

use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::post,
};
use helmdeck_display::Mark;
use helmdeck_link::route;
use helmdeck_task::{BoxFuture, boxed};
use helmdeck_wire::{
    Action,
    aim::Aim,
    body::BytesReply,
    browser::{
        ClickElement, ConcealField, Emulate, Execute, ExportHar, ExportState, Extract,
        HoverElement, ImportState, Interact, Markdown, Navigate, PageScreenshot, Pdf, PressKeys,
        ReadConsole, ReadNetwork, SelectOptions, Snapshot, Tabs, TypeInto, UploadFiles, WaitFor,
    },
    clipboard::Clipboard,
    control::Hands,
    keyboard::{HoldKey, Key, Type},
    observe::ActionOptions,
    point::Rect,
    pointer::{
        Click, CursorPosition, DoubleClick, Drag, ModifierClick, MouseDown, MouseMove, MouseUp,
        Scroll, TripleClick,
    },
    process::Launch,
    screen::{Format, Resize, Screenshot, Zoom, header},
    status::Wait,
    tree::{Find, FindInPage, ReadTree},
    verify::{Verify, VerifyPage},
    window::{Focus, ListWindows},
};
use http::{HeaderMap, HeaderName, HeaderValue, header::CONTENT_TYPE};
use serde::Serialize;
use serde_json::Value;

use crate::{
    act, aim,
    begin::Guest,
    elements::legend,
    error::GuestError,
    handover,
    json::{Json, Unparsed, unreadable},
    observe::{Entry, Watch},
};

/// More marks than this would cover the picture.
const MAX_MARKS: usize = 100;

type Answer = Result<Response, GuestError>;
/// Parses an action and performs it.
type Perform = dyn Fn(Guest, Hands, Value) -> BoxFuture<'static, Answer> + Send + Sync;

/// An action of any type.
struct AnyAction {
    name: &'static str,
    aim: Aim,
    perform: Box<Perform>,
    /// What the trace keeps of it; `None` if it only reads.
    detail: fn(&Value) -> Option<Value>,
}

/// Routes actions to the display's methods: `Action => method as how_to_answer`.
macro_rules! on_display {
    ($routes:expr, $($action:ident => $method:ident($($more:expr)?) as $answer:ident),* $(,)?) => {
        $routes$(.on(|guest, _, action: $action| async move {
            Ok::<_, GuestError>($answer(guest.display()?.$method(&action $(, $more)?).await?))
        }))*
    };
}

/// Routes actions to the structured browser's methods.
macro_rules! on_browser {
    ($routes:expr, $($action:ident => $method:ident as $answer:ident),* $(,)?) => {
        $routes$(.on(|guest, hands, action: $action| async move {
            Ok::<_, GuestError>($answer(guest.browser()?.in_hands(hands).$method(&action).await?))
        }))*
    };
}

/// The routes of all actions.
pub fn routes() -> Router<Guest> {
    let routes =
        Routes::default()
            .on(launch)
            .on(wait)
            .on(resize)
            .on(upload)
            .on(screenshot)
            .on(tree)
            .on(find)
            .on(find_in_page)
            .on(navigate)
            .on(tabs)
            .on(|guest, _, verify: Verify| async move { Ok(json(guest.verify(&verify).await?)) })
            .on(|guest, _, verify: VerifyPage| async move {
                Ok(json(guest.verify_page(&verify).await?))
            });
    let routes = on_display!(routes,
        Click => click() as json,
        DoubleClick => double_click() as json,
        TripleClick => triple_click() as json,
        ModifierClick => modifier_click() as json,
        MouseMove => mouse_move() as json,
        MouseDown => mouse_down() as json,
        MouseUp => mouse_up() as json,
        Drag => drag() as json,
        Scroll => scroll() as json,
        CursorPosition => cursor_position() as json,
        Type => type_text() as json,
        Key => key() as json,
        HoldKey => hold_key() as json,
        Clipboard => clipboard() as json,
        ListWindows => windows() as json,
        Focus => focus() as json,
        Zoom => zoom(Format::default()) as bytes,
    );
    let routes = on_browser!(routes,
        WaitFor => wait_for as json,
        Execute => execute as json,
        Extract => extract as json,
        Snapshot => snapshot as json,
        Markdown => markdown as json,
        PageScreenshot => screenshot as bytes,
        Pdf => pdf as bytes,
        ReadConsole => console as json,
        ReadNetwork => network as json,
        ExportHar => har as json,
        ClickElement => click as json,
        TypeInto => type_into as json,
        SelectOptions => select as json,
        ConcealField => conceal as json,
        HoverElement => hover as json,
        PressKeys => press as json,
        Interact => interact as json,
        ExportState => export_state as json,
        ImportState => import_state as json,
        Emulate => emulate as json,
    );
    routes.router
}

/// Routes whose handlers have one type, so that axum's part is compiled once.
#[derive(Default)]
struct Routes {
    router: Router<Guest>,
}

impl Routes {
    fn on<A: Action, R>(self, act: impl Fn(Guest, Hands, A) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Answer> + Send + 'static,
    {
        self.route(AnyAction {
            name: A::NAME,
            aim: A::AIM,
            perform: Box::new(move |guest: Guest, hands, value| match A::read(value) {
                Ok(action) => boxed(act(guest, hands, action)),
                Err(invalid) => boxed(ready(Err(unreadable(&invalid)))),
            }),
            detail: |value| {
                let action = A::read(value.clone()).ok()?;
                action.drives().then(|| action.detail())
            },
        })
    }

    fn route(self, action: AnyAction) -> Self {
        let path = route::act(action.name);
        let action = Arc::new(action);
        let handler = move |State(guest): State<Guest>, headers: HeaderMap, body: Unparsed| {
            perform(guest, hands(&headers), action.clone(), body.0)
        };
        Self { router: self.router.route(&path, post(handler)) }
    }
}

/// Performs an action, with what its options ask for before and after it.
fn perform(
    guest: Guest,
    hands: Hands,
    action: Arc<AnyAction>,
    mut value: Value,
) -> BoxFuture<'static, Answer> {
    let options = match value.as_object_mut().map(ActionOptions::split) {
        None => ActionOptions::default(),
        Some(Ok(options)) => options,
        Some(Err(invalid)) => return boxed(ready(Err(unreadable(&invalid)))),
    };
    boxed(async move {
        let detail = detail(&action, &options, &value);
        let entry = detail.map(|detail| guest.trace.begin(action.name, detail));
        if entry.is_some() && !options.observes() {
            guest.observed.unobserved();
        }
        let done = if options.is_empty() {
            if let Some(entry) = &entry {
                entry.acted_at(aim::point(action.aim, &value));
            }
            carry_out(guest, hands, &action, value, entry.is_some()).await
        } else {
            observed(guest, hands, &action, &options, value, entry.as_ref()).await
        };
        if let Some(entry) = entry {
            entry.end(done.as_ref().map_or_else(|error| error.code().as_str(), |_| "ok"));
        }
        done
    })
}

/// What the trace keeps of an action; `None` if it only reads.
fn detail(action: &AnyAction, options: &ActionOptions, value: &Value) -> Option<Value> {
    if options.targets().next().is_none() {
        return (action.detail)(value);
    }
    let mut value = value.clone();
    action.aim.prepare(options, value.as_object_mut()?).ok()?;
    let mut detail = (action.detail)(&value)?;
    if let Value::Object(fields) = &mut detail {
        let replaced = action.aim.replaced(options);
        fields.retain(|name, _| !replaced.contains(&name.as_str()));
        for (name, target) in options.targets() {
            fields.insert(name.to_owned(), serde_json::to_value(target).ok()?);
        }
    }
    Some(detail)
}

/// Performs an action with options.
async fn observed(
    guest: Guest,
    hands: Hands,
    action: &AnyAction,
    options: &ActionOptions,
    mut value: Value,
    entry: Option<&Entry>,
) -> Answer {
    let aimed = aim::resolve(&guest, hands, options, action.aim, &mut value).await?;
    if let Some(entry) = entry {
        entry.acted_at(aimed.point);
    }
    let watch = Watch::begin(&guest, hands, action.name, options, &aimed, &value).await?;
    let response = carry_out(guest, hands, action, value, entry.is_some()).await?;
    watch.finish(response, entry).await
}

/// Performs the action itself. The screen is told if it `drives`.
async fn carry_out(
    guest: Guest,
    hands: Hands,
    action: &AnyAction,
    value: Value,
    drives: bool,
) -> Answer {
    let screen = guest.screen().ok().flatten().filter(|_| drives);
    let _acting = screen.map(|display| display.acting());
    (action.perform)(guest, hands, value).await
}

/// On whose behalf this call uses the browser.
fn hands(headers: &HeaderMap) -> Hands {
    let named = headers.get(route::HANDS).and_then(|hands| hands.to_str().ok());
    Hands::named(named.unwrap_or_default())
}

/// A screenshot of the whole desktop, including its panel.
async fn screenshot(guest: Guest, _: Hands, action: Screenshot) -> Answer {
    guest.panel.drawn().await;
    if !action.marks {
        return Ok(bytes(guest.display()?.screenshot(&action, Format::default()).await?));
    }
    let marked = guest.interactive_elements(MAX_MARKS).await?;
    let marks: Vec<Mark> = marked.iter().map(|it| mark(it.rect)).collect();
    let display = guest.display()?;
    let picture = display.marked_screenshot(&action, Format::default(), &marks).await?;
    let mut response = bytes(picture);
    if let Ok(legend) = HeaderValue::from_str(&legend(&marked)) {
        response.headers_mut().insert(HeaderName::from_static(header::MARKS), legend);
    }
    Ok(response)
}

/// What is on the screen.
async fn tree(guest: Guest, _: Hands, action: ReadTree) -> Answer {
    Ok(json(guest.tree(&action).await?))
}

async fn find(guest: Guest, _: Hands, action: Find) -> Answer {
    Ok(json(guest.find(&action).await?))
}

async fn find_in_page(guest: Guest, _: Hands, action: FindInPage) -> Answer {
    Ok(json(guest.find_in_page(&action).await?))
}

fn mark(Rect { x, y, width, height }: Rect) -> Mark {
    Mark { x, y, width, height }
}

async fn launch(guest: Guest, _: Hands, launch: Launch) -> Answer {
    Ok(json(act::launch(&guest.session()?, launch).await?))
}

/// The screen size of an attached display is not changed.
async fn resize(guest: Guest, _: Hands, resize: Resize) -> Answer {
    guest.ensure_own()?;
    Ok(json(guest.display()?.resize(&resize).await?))
}

async fn navigate(guest: Guest, hands: Hands, navigate: Navigate) -> Answer {
    guest.hand_over_page(navigate.url.as_deref())?;
    Ok(json(guest.browser()?.in_hands(hands).navigate(&navigate).await?))
}

async fn tabs(guest: Guest, hands: Hands, tabs: Tabs) -> Answer {
    guest.hand_over_page(tabs.url.as_deref())?;
    Ok(json(guest.browser()?.in_hands(hands).tabs(&tabs).await?))
}

/// Files come from the home, which attached sessions do not have.
async fn upload(guest: Guest, _: Hands, upload: UploadFiles) -> Answer {
    guest.ensure_own()?;
    for file in &upload.files {
        handover::file(file)?;
    }
    Ok(json(guest.browser()?.upload(&upload).await?))
}

async fn wait(_: Guest, _: Hands, wait: Wait) -> Answer {
    Ok(json(act::wait(wait).await))
}

fn json(reply: impl Serialize) -> Response {
    Json(reply).into_response()
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

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use http::{Request, StatusCode};
    use serde_json::json;
    use tower::ServiceExt;

    use super::*;

    async fn post(path: &str, body: &'static str) -> (StatusCode, Value) {
        let request = Request::post(path).body(Body::from(body)).unwrap();
        let router: Router = routes().with_state(Guest::default());
        let response = router.oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn an_action_is_read_performed_and_answered_as_json() {
        let (status, reply) = post("/act/wait", r#"{"seconds": 0.01}"#).await;
        assert_eq!((status, reply["ok"].clone()), (StatusCode::OK, json!(true)));
    }

    #[tokio::test]
    async fn a_body_that_is_no_such_action_answers_with_an_error_that_names_the_field() {
        for (body, reason) in [("{", "EOF"), (r#"{"seconds": []}"#, "seconds: ")] {
            let (status, error) = post("/act/wait", body).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
            assert_eq!(error["error"], "internal");
            assert!(error["message"].as_str().unwrap().contains(reason), "{error}");
        }
        let (_, error) = post("/act/cursor_position", "{}").await;
        assert_eq!(error["error"], "session_starting");
    }
}
