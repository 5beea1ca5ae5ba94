//! Watching sessions, and other long-lived connections.

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
                "Attach an existing display or browser as a session, over a WebSocket. Used by \
                 `helmdeck attach`. Requires a bearer token.",
            )
            .upgrades(),
        get("/api/v1/attach/{id}/stream", Needs(Scope::ADMIN), "attach_stream", attach::stream)
            .doc(
                "A connection that the server uses to reach the program that attached the session.",
            )
            .upgrades(),
    ]
}

/// Watching sessions.
pub fn watching() -> Vec<Operation> {
    vec![
        get("/api/v1/events", Watches, "events", events::events)
            .doc(
                "Follow the caller's sessions as server-sent events: `session`, `session_gone`, \
                 `action`, `agent_status`, `control`, `idle`, and `reset` if events were lost; \
                 `vision` when a run of vision begins, acts, asks or ends; \
                 also `job` when a job of the caller begins, progresses or ends, without its output, and \
                 `mcp_client_connected` when an MCP client connects with one of the caller's tokens. \
                 `session_gone` has `end_reason` and `ended_at`; `idle` has `idle_ends_at`, null \
                 while the session is in use. Continues after `Last-Event-ID`. With a ticket, only \
                 events of its session.",
            )
            .query::<events::EventsQuery>()
            .returns_text("text/event-stream"),
        json_tool("session.actions", events::session_actions)
            .doc("List the actions in a session and who performed them, also after its end.")
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().reads())
            .of_session()
            .get("/api/v1/sessions/{id}/actions", "session_actions"),
        get("/api/v1/wall", desktop::ACT, "wall", wall::wall)
            .doc(
                "Small live pictures of many sessions over one WebSocket. Send \
                 `{\"watch\": [ids], \"width\": 480}` whenever the selection changes; each binary \
                 message is the length of a session id, the id, and a JPEG.",
            )
            .upgrades(),
        get("/api/v1/sessions/{id}/vnc", Watches, "watch_session", live::vnc)
            .doc("Watch and drive the session's desktop: RFB 3.8 over a WebSocket.")
            .query::<live::ViewQuery>()
            .upgrades(),
        get("/api/sessions/{id}/vnc", Watches, "watch_session_alias", live::vnc)
            .doc("Old path of `/api/v1/sessions/{id}/vnc`.")
            .query::<live::ViewQuery>()
            .upgrades(),
        get("/api/v1/sessions/{id}/cdp-stream", Watches, "watch_browser", cast::stream)
            .doc(cast::STREAM)
            .query::<cast::CastQuery>()
            .upgrades(),
        get("/api/sessions/{id}/cdp-stream", Watches, "watch_browser_alias", cast::stream)
            .doc("Old path of `/api/v1/sessions/{id}/cdp-stream`.")
            .query::<cast::CastQuery>()
            .upgrades(),
        json_tool("ticket.create", live::create_ticket)
            .doc("Create a ticket. Its holder can watch the session for a while without a token.")
            .scope(Scope::SESSIONS_ACT)
            .of_session()
            .post("/api/v1/sessions/{id}/tickets", "create_ticket")
            .optional_body()
            .status(StatusCode::CREATED),
        tool("ticket.revoke", live::revoke_ticket)
            .doc("Revoke a ticket by its id, and close its connections.")
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().destroys())
            .of_session()
            .delete("/api/v1/sessions/{id}/tickets/{ticket}", "revoke_ticket"),
        json_tool("desktop.vnc_url", live::vnc_url)
            .doc("Get an address with a ticket, where people can watch a session's VISIBLE desktop.")
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().reads())
            .of_session()
            .get("/api/v1/desktop/vnc-url", "desktop_vnc_url"),
    ]
}

/// The browser's debugging protocol for outside programs.
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
                "Connect to the session's browser with the Chrome DevTools Protocol, over a \
                 WebSocket: the address for Playwright's `connectOverCDP` and Puppeteer's \
                 `connect`. Needs a token or a ticket with role `control`. All clients share the \
                 one browser, which is VISIBLE in a desktop session. After a restart of the \
                 browser, connect again to the same address.",
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
            "Connect to one page with the Chrome DevTools Protocol, over a WebSocket, for clients \
             that support pages only. `json/list` returns its address.",
        )
        .query::<cdp::ConnectQuery>()
        .upgrades(),
    ];
    operations.extend(version.map(|(path, id)| {
        let operation = get(&path, Watches, &id, cdp::version)
            .doc("The browser's version and the address to connect to, in Chromium's own format.")
            .query::<cdp::ConnectQuery>()
            .returns::<AnyObject>();
        // OpenAPI tools do not accept a trailing slash, but Playwright uses it.
        if path.ends_with('/') { operation.undocumented() } else { operation }
    }));
    operations.extend(list.map(|(path, id)| {
        get(&path, Watches, &id, cdp::list)
            .doc("The open pages, in Chromium's own format.")
            .query::<cdp::ConnectQuery>()
            .returns::<Vec<AnyObject>>()
    }));
    operations
}
