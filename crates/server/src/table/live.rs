//! Watching sessions, and connections to them that stay open.

use helmdeck_wire::Scope;
use http::StatusCode;

use crate::{
    operation::{
        Access::{Needs, Watches},
        Operation, get,
    },
    routes::{attach, cast, cdp, desktop, events, live, wall},
    tool::{Nature, json_tool, tool},
};

/// A JSON object whose fields another specification defines.
pub type AnyObject = std::collections::BTreeMap<String, serde_json::Value>;

/// Attached displays and browsers.
pub fn attaching() -> Vec<Operation> {
    vec![
        get("/api/v1/attach", Needs(Scope::ADMIN), "attach", attach::attach)
            .doc(
                "Make an existing display or browser a session, over a WebSocket: what \
                 `helmdeck attach` connects to. By bearer token only.",
            )
            .upgrades(),
        get("/api/v1/attach/{id}/stream", Needs(Scope::ADMIN), "attach_stream", attach::stream)
            .doc("A connection for the server to take, of the program that attached the session.")
            .upgrades(),
    ]
}

/// Watching sessions.
pub fn watching() -> Vec<Operation> {
    vec![
        get("/api/v1/events", Watches, "events", events::events)
            .doc(
                "What happens in the caller's sessions, as server-sent events: `session`, \
                 `session_gone`, `action`, `agent_status`, `control`, `idle`, and `reset` if events \
                 were lost; also `mcp_client_connected` when an MCP client connects with one of the \
                 caller's tokens. `session_gone` says `end_reason` and `ended_at`; `idle` says \
                 `idle_ends_at`, null while the session is in use. Goes on after \
                 `Last-Event-ID`. With a ticket: of its session only.",
            )
            .query::<events::EventsQuery>()
            .returns_text("text/event-stream"),
        json_tool("session.actions", events::session_actions)
            .doc("What was done in a session, by whom; also after its end.")
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().reads())
            .of_session()
            .get("/api/v1/sessions/{id}/actions", "session_actions"),
        get("/api/v1/wall", desktop::ACT, "wall", wall::wall)
            .doc(
                "Small live pictures of many sessions over one WebSocket. Send \
                 `{\"watch\": [ids], \"width\": 480}` whenever others are to be seen; each binary \
                 message is the length of an id, the id, and a JPEG.",
            )
            .upgrades(),
        get("/api/v1/sessions/{id}/vnc", Watches, "watch_session", live::vnc)
            .doc("The session's desktop: RFB 3.8 over a WebSocket.")
            .query::<live::ViewQuery>()
            .upgrades(),
        get("/api/sessions/{id}/vnc", Watches, "watch_session_alias", live::vnc)
            .doc("The same under its old name.")
            .query::<live::ViewQuery>()
            .upgrades(),
        get("/api/v1/sessions/{id}/cdp-stream", Watches, "watch_browser", cast::stream)
            .doc(cast::STREAM)
            .query::<cast::CastQuery>()
            .upgrades(),
        get("/api/sessions/{id}/cdp-stream", Watches, "watch_browser_alias", cast::stream)
            .doc("The same under its old name.")
            .query::<cast::CastQuery>()
            .upgrades(),
        json_tool("ticket.create", live::create_ticket)
            .doc(
                "Make a ticket. Its holder can watch the session for a limited time, without a token.",
            )
            .scope(Scope::SESSIONS_ACT)
            .of_session()
            .post("/api/v1/sessions/{id}/tickets", "create_ticket")
            .optional_body()
            .status(StatusCode::CREATED),
        tool("ticket.revoke", live::revoke_ticket)
            .doc("Revoke a ticket by its id, at once; connections by it are closed.")
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().destroys())
            .of_session()
            .delete("/api/v1/sessions/{id}/tickets/{ticket}", "revoke_ticket"),
        json_tool("desktop.vnc_url", live::vnc_url)
            .doc(
                "Where people can watch a session's desktop: the address of a page, with a ticket.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().reads())
            .of_session()
            .get("/api/v1/desktop/vnc-url", "desktop_vnc_url"),
    ]
}

/// The browser's debugging protocol, for programs outside.
pub fn debugging() -> Vec<Operation> {
    let json = |path: &str, id: &str| -> (String, String) {
        (format!("/api/v1/sessions/{{id}}/cdp{path}"), id.to_owned())
    };
    let version =
        [json("/json/version", "cdp_version"), json("/json/version/", "cdp_version_slash")];
    let list = [json("/json/list", "cdp_list"), json("/json", "cdp_list_short")];
    let mut operations = vec![
        get("/api/v1/sessions/{id}/cdp", Watches, "cdp", cdp::connect)
            .doc(
                "The session's browser by the Chrome DevTools Protocol, over a WebSocket: the \
                 address for Playwright's `connectOverCDP` and Puppeteer's `connect`. Needs a token \
                 or a ticket of role `control`. Each client has its own view of the one browser, \
                 which is VISIBLE on a desktop session. After the browser was restarted, connect \
                 again to the same address.",
            )
            .query::<cdp::ConnectQuery>()
            .upgrades(),
        get(
            "/api/v1/sessions/{id}/cdp/devtools/page/{target_id}",
            Watches,
            "cdp_page",
            cdp::connect_page,
        )
        .doc(
            "One page by the Chrome DevTools Protocol, over a WebSocket, for clients that know \
             pages only: the address that `json/list` gives for it.",
        )
        .query::<cdp::ConnectQuery>()
        .upgrades(),
    ];
    operations.extend(version.map(|(path, id)| {
        let operation = get(&path, Watches, &id, cdp::version)
            .doc("Which browser it is, and the address to connect to, as Chromium itself answers.")
            .query::<cdp::ConnectQuery>()
            .returns::<AnyObject>();
        // OpenAPI tools do not accept a path that ends in a slash; Playwright asks for it.
        if path.ends_with('/') { operation.undocumented() } else { operation }
    }));
    operations.extend(list.map(|(path, id)| {
        get(&path, Watches, &id, cdp::list)
            .doc("The pages that are open, as Chromium itself answers.")
            .query::<cdp::ConnectQuery>()
            .returns::<Vec<AnyObject>>()
    }));
    operations
}
