//! The browser's debugging protocol for outside clients such as Playwright and Puppeteer.

use axum::{
    Json,
    extract::{Path, Request, State},
    response::Response,
};
use helmdeck_cdp::MAX_REQUEST;
use helmdeck_sessions::{ByteStream, Caller, CdpClient};
use helmdeck_wire::{
    SessionId,
    history::Actor,
    ticket::{NewTicket, Role},
};
use http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::live::{Admitted, accept, admit, must_end, upgrade};
use crate::{
    App,
    auth::PresentedTicket,
    cdp::{ask, relay},
    error::{ApiError, ApiResult},
    public::Address,
    query::{Named, Params},
    ticket,
    token::Claims,
};

/// How long an address with a new ticket accepts connections.
const TICKET_LIFE_S: u64 = 12 * 3600;

/// How a client connects.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectQuery {
    /// A ticket with role `control` instead of a token.
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "read by `auth.rs`; declared here for validation and documentation"
    )]
    ticket: Option<String>,
}

/// The protocol over a WebSocket.
pub async fn connect(
    State(app): State<App>,
    Named(id): Named,
    Params(_): Params<ConnectQuery>,
    request: Request,
) -> ApiResult<Response> {
    connect_to(app, id, None, request).await
}

/// The protocol for one page.
pub async fn connect_page(
    State(app): State<App>,
    Path((id, target)): Path<(SessionId, String)>,
    Params(_): Params<ConnectQuery>,
    request: Request,
) -> ApiResult<Response> {
    connect_to(app, id, Some(target), request).await
}

async fn connect_to(
    app: App,
    id: SessionId,
    page: Option<String>,
    request: Request,
) -> ApiResult<Response> {
    let (mut parts, _) = request.into_parts();
    let admitted = admitted(&app, &id, &mut parts)?;
    let upgrade = upgrade(&mut parts, &app).await?;
    let (client, stream) = open(&admitted).await?;
    let Admitted { credentials, ticket, expires, .. } = admitted;
    let live = app.live.clone();
    Ok(accept(
        upgrade.max_message_size(MAX_REQUEST).max_frame_size(MAX_REQUEST),
        async move |socket| {
            let over = client.session().ending();
            let ended = must_end(&app, over, &credentials, expires);
            live.track_future(relay(socket, client, stream, page, ended)).await;
            drop(ticket);
        },
    ))
}

/// The browser's version, and where to connect.
pub async fn version(
    State(app): State<App>,
    Named(id): Named,
    Params(_): Params<ConnectQuery>,
    request: Request,
) -> ApiResult<Json<Value>> {
    let (mut parts, _) = request.into_parts();
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        product: String,
        protocol_version: String,
        #[serde(default)]
        revision: String,
        user_agent: String,
        js_version: String,
    }
    let (found, address) = look::<Version>(&app, &id, &mut parts, "Browser.getVersion").await?;
    // ChromeDriver connects only if this is there, in Chromium's form: 537.36 (@revision).
    let engine = found.user_agent.split_once("AppleWebKit/").map(|(_, rest)| rest);
    let engine = engine.and_then(|rest| rest.split_whitespace().next()).unwrap_or("537.36");
    Ok(Json(json!({
        "Browser": found.product,
        "Protocol-Version": found.protocol_version,
        "User-Agent": found.user_agent,
        "V8-Version": found.js_version,
        "WebKit-Version": format!("{engine} ({})", found.revision),
        "webSocketDebuggerUrl": address,
    })))
}

/// The open pages, each with its own address.
pub async fn list(
    State(app): State<App>,
    Named(id): Named,
    Params(_): Params<ConnectQuery>,
    request: Request,
) -> ApiResult<Json<Value>> {
    let (mut parts, _) = request.into_parts();
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Targets {
        target_infos: Vec<Target>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Target {
        target_id: String,
        r#type: String,
        title: String,
        url: String,
    }
    let (found, address) = look::<Targets>(&app, &id, &mut parts, "Target.getTargets").await?;
    let pages = found.target_infos.into_iter().filter(|target| target.r#type == "page");
    let described = pages.map(|Target { target_id, r#type, title, url }| {
        let page = format!("/cdp/devtools/page/{target_id}?");
        json!({
            "id": target_id,
            "type": r#type,
            "title": title,
            "url": url,
            "webSocketDebuggerUrl": address.replace("/cdp?", &page),
        })
    });
    Ok(Json(described.collect()))
}

/// Queries the browser, and builds the address to connect to: with the presented ticket, or a new
/// one.
async fn look<T: DeserializeOwned>(
    app: &App,
    id: &SessionId,
    parts: &mut Parts,
    method: &str,
) -> ApiResult<(T, String)> {
    let (token, shown) = (
        parts.extensions.get::<Claims>().cloned(),
        parts.extensions.get::<PresentedTicket>().map(|PresentedTicket(text)| text.clone()),
    );
    let admitted = admitted(app, id, parts)?;
    let (_client, stream) = open(&admitted).await?;
    let found = ask(stream, method).await?;
    let ticket = match (shown, token) {
        (Some(ticket), _) => ticket,
        (None, Some(token)) => {
            let ttl_seconds = Some(TICKET_LIFE_S);
            let role = Role::Control;
            let wanted = NewTicket { role, ttl_seconds, reusable: true, ..NewTicket::default() };
            ticket::issue(&app.signer, &token, id, &wanted)?.0
        }
        (None, None) => return Err(ApiError::internal("the request has neither token nor ticket")),
    };
    Ok((found, Address::of(app, &parts.headers).cdp(id, &ticket)))
}

fn admitted(app: &App, id: &SessionId, parts: &mut Parts) -> ApiResult<Admitted> {
    let (token, presented) = (parts.extensions.remove::<Claims>(), parts.extensions.remove());
    admit(app, id, ticket::Kind::Debugging, Some(Role::Control), token, presented)
}

async fn open(admitted: &Admitted) -> ApiResult<(CdpClient, Box<dyn ByteStream>)> {
    let holder = admitted.viewer.holder.clone();
    let Actor { kind, subject, label, address } = holder.by;
    let caller = Caller { subject, token: holder.key, kind, label, address, ..Caller::default() };
    Ok(admitted.session.open_cdp(caller).await?)
}
