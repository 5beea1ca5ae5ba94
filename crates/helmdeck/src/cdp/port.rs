//! The local port: the same endpoints as Chromium's debugging port, for local programs only.

use std::{error::Error, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::{Path, RawQuery, Request, State, WebSocketUpgrade},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use futures_util::{SinkExt, StreamExt};
use helmdeck_cdp::{MAX_MESSAGE, MAX_REQUEST};
use http::{HeaderMap, Method, StatusCode, Uri, header};
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch, time::timeout};
use tokio_tungstenite::tungstenite::Message;

use super::{files::Files, relay, transfers::Folders};
use crate::{
    remote::Remote,
    transfer::{Failure, call, empty},
};

/// The browser answers simple questions at once.
const DEADLINE: Duration = Duration::from_secs(20);
/// Maximum size of an answer about pages.
const MAX_ANSWER: usize = 4 << 20;

/// A cheap handle to the port.
#[derive(Clone)]
pub struct Port(Arc<Inner>);

struct Inner {
    server: Arc<Remote>,
    files: Files,
    folders: Folders,
    session: String,
    number: u16,
    /// Why the session ended.
    over: watch::Sender<Option<String>>,
}

/// The error for a failed request.
struct Refused(Failure);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (StatusCode::BAD_GATEWAY, format!("{}\n", self.0)).into_response()
    }
}

impl Port {
    /// A port that is served as `number`.
    pub fn new(
        server: Arc<Remote>,
        files: Files,
        session: String,
        number: u16,
        over: watch::Sender<Option<String>>,
    ) -> Self {
        let folders = Folders::default();
        Self(Arc::new(Inner { server, files, folders, session, number, over }))
    }

    /// Serves until the program ends.
    pub async fn serve(self, listener: TcpListener) -> Result<(), Box<dyn Error>> {
        let local = middleware::from_fn_with_state(self.clone(), local_only);
        // Like Chromium, whatever the method: some clients write `get`.
        let routes = Router::new()
            .route("/json/version", any(version))
            .route("/json/version/", any(version))
            .route("/json", any(list))
            .route("/json/", any(list))
            .route("/json/list", any(list))
            .route("/json/list/", any(list))
            .route("/json/new", any(new_page))
            .route("/json/activate/{target}", any(activate))
            .route("/json/close/{target}", any(close))
            // ChromeDriver leaves the id out.
            .route("/devtools/browser", get(connect))
            .route("/devtools/browser/", get(connect))
            .route("/devtools/browser/{browser}", get(connect))
            .route("/devtools/page/{target}", get(connect_page))
            .layer(local)
            .with_state(self);
        Ok(axum::serve(listener, routes).await?)
    }

    /// The browser's version, and where to connect.
    pub async fn version(&self) -> Result<Value, Failure> {
        let mut version = self.ask("/json/version").await?;
        let address =
            format!("ws://127.0.0.1:{}/devtools/browser/{}", self.0.number, self.0.session);
        set_address(&mut version, address);
        Ok(version)
    }

    async fn list(&self) -> Result<Value, Failure> {
        let mut pages = self.ask("/json/list").await?;
        for page in pages.as_array_mut().into_iter().flatten() {
            let target = page.get("id").and_then(Value::as_str).unwrap_or_default();
            let address = format!("ws://127.0.0.1:{}/devtools/page/{target}", self.0.number);
            set_address(page, address);
        }
        Ok(pages)
    }

    async fn ask(&self, path: &str) -> Result<Value, Failure> {
        let path = self.path(path);
        let (server, headers) = (&self.0.server, HeaderMap::new());
        let response = call(server, Method::GET, &path, headers, empty()).await?;
        let body = Limited::new(response.into_body(), MAX_ANSWER).collect();
        let body = timeout(DEADLINE, body).await??;
        Ok(serde_json::from_slice(&body.to_bytes())?)
    }

    /// Sends the browser one command.
    async fn tell(&self, method: &str, params: Value) -> Result<Value, Failure> {
        let request = self.0.server.request(&self.path(""))?;
        let mut socket = self.0.server.connect(request).await?;
        let asking = async {
            let question = json!({ "id": 1, "method": method, "params": params });
            socket.send(Message::text(question.to_string())).await?;
            while let Some(message) = socket.next().await {
                let Message::Text(text) = message? else { continue };
                let answer: Value = serde_json::from_str(&text)?;
                if answer.get("id").is_none() {
                    continue;
                }
                let why = answer.pointer("/error/message").and_then(Value::as_str);
                return match why {
                    Some(why) => Err(why.into()),
                    None => Ok(answer.get("result").cloned().unwrap_or_default()),
                };
            }
            Err("the browser is gone".into())
        };
        timeout(DEADLINE, asking).await?
    }

    fn path(&self, path: &str) -> String {
        format!("/api/v1/sessions/{}/cdp{path}", self.0.session)
    }

    /// Relays one client's messages to a path of the session.
    async fn carry(self, path: String, upgrade: WebSocketUpgrade) -> Result<Response, Refused> {
        let request = self.0.server.request(&path).map_err(|e| Refused(e.into()))?;
        let socket = self.0.server.connect_large(request, MAX_MESSAGE).await;
        let socket = socket.map_err(|e| Refused(e.into()))?;
        let upgrade = upgrade.max_message_size(MAX_REQUEST).max_frame_size(MAX_REQUEST);
        Ok(upgrade.on_upgrade(async move |client| {
            let (files, folders) = (self.0.files.clone(), self.0.folders.clone());
            let ended = relay::relay(client, socket, files, folders).await;
            if let Some(why) = ended {
                self.0.over.send_replace(Some(why));
            }
        }))
    }
}

/// Sets the address of a browser or page.
fn set_address(described: &mut Value, address: String) {
    if let Some(facts) = described.as_object_mut() {
        facts.insert("webSocketDebuggerUrl".to_owned(), address.into());
    }
}

/// Whether an address is this local port.
fn is_here(authority: &str, number: u16) -> bool {
    let here = ["127.0.0.1", "localhost", "[::1]"];
    here.iter().any(|host| authority == format!("{host}:{number}"))
}

/// Pages in a local browser must not reach the port, neither through a name that resolves to this
/// machine nor by a WebSocket, which browsers do not restrict.
async fn local_only(State(port): State<Port>, request: Request, next: Next) -> Response {
    let number = port.0.number;
    if trusted(request.headers(), number) {
        return next.run(request).await;
    }
    let message = format!("use http://127.0.0.1:{number}; other origins are not allowed\n");
    (StatusCode::FORBIDDEN, message).into_response()
}

fn trusted(headers: &HeaderMap, number: u16) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    // ChromeDriver leaves the port out; browsers never do.
    let bare = |host: &str| ["127.0.0.1", "localhost", "[::1]"].contains(&host);
    let host = text(header::HOST).is_some_and(|host| is_here(host, number) || bare(host));
    let origin = text(header::ORIGIN).is_none_or(|origin| {
        let uri = origin.parse::<Uri>().unwrap_or_default();
        uri.authority().is_some_and(|authority| is_here(authority.as_str(), number))
    });
    host && origin
}

async fn version(State(port): State<Port>) -> Result<Json<Value>, Refused> {
    port.version().await.map(Json).map_err(Refused)
}

async fn list(State(port): State<Port>) -> Result<Json<Value>, Refused> {
    port.list().await.map(Json).map_err(Refused)
}

async fn new_page(
    State(port): State<Port>,
    method: Method,
    RawQuery(query): RawQuery,
) -> Result<Response, Refused> {
    if method != Method::PUT {
        let message = "Using unsafe HTTP verb GET to invoke /json/new. Use PUT.\n";
        return Ok((StatusCode::METHOD_NOT_ALLOWED, message).into_response());
    }
    let asked = query.filter(|url| !url.is_empty()).unwrap_or_else(|| "about:blank".to_owned());
    let url = asked.strip_prefix("url=").map_or_else(|| asked.clone(), str::to_owned);
    let made = port.tell("Target.createTarget", json!({ "url": url })).await.map_err(Refused)?;
    let pages = port.list().await.map_err(Refused)?;
    let mut pages = pages.as_array().into_iter().flatten();
    let page = pages.find(|page| page.get("id") == made.get("targetId")).cloned();
    page.map(|page| Json(page).into_response()).ok_or_else(|| Refused("the page is gone".into()))
}

async fn activate(
    State(port): State<Port>,
    Path(target): Path<String>,
) -> Result<&'static str, Refused> {
    port.tell("Target.activateTarget", json!({ "targetId": target })).await.map_err(Refused)?;
    Ok("Target activated")
}

async fn close(
    State(port): State<Port>,
    Path(target): Path<String>,
) -> Result<&'static str, Refused> {
    port.tell("Target.closeTarget", json!({ "targetId": target })).await.map_err(Refused)?;
    Ok("Target is closing")
}

async fn connect(State(port): State<Port>, upgrade: WebSocketUpgrade) -> Result<Response, Refused> {
    let path = port.path("");
    port.carry(path, upgrade).await
}

async fn connect_page(
    State(port): State<Port>,
    Path(target): Path<String>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Refused> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !target.chars().all(plain) {
        return Ok((StatusCode::NOT_FOUND, "the page does not exist\n").into_response());
    }
    let path = port.path(&format!("/devtools/page/{target}"));
    port.carry(path, upgrade).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_programs_are_served() {
        let trusted = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            super::trusted(&headers, 9222)
        };
        assert!(trusted("127.0.0.1:9222", None) && trusted("localhost:9222", None));
        assert!(trusted("127.0.0.1", None) && !trusted("evil.example", None));
        assert!(trusted("127.0.0.1:9222", Some("http://127.0.0.1:9222")));
        // A foreign name that resolves to this machine.
        assert!(!trusted("evil.example:9222", None));
        assert!(!trusted("127.0.0.1:1", None));
        for origin in ["https://evil.example", "http://localhost:3000", "null"] {
            assert!(!trusted("127.0.0.1:9222", Some(origin)), "{origin}");
        }
        assert!(!super::trusted(&HeaderMap::new(), 9222));
    }
}
