//! Every operation of the API: the table of contents.

mod actions;
mod endings;
mod exec;
mod reaching;

use helmdeck_sessions::Scope::{Admin, MetricsRead, SessionsRead, SessionsWrite};
use helmdeck_wire::{
    control::{Control, ReleaseControl, TakeControl},
    extension::{Extension, ExtensionList},
    file::{FileList, FileStored},
    history::ActionList,
    private::{PrivateEnded, PrivateSignIn},
    profile::ProfileList,
    session::{Session, SessionList, SessionSpec},
    settings::{ChangeSettings, Settings},
    ticket::{NewTicket, Ticket, VncUrl},
    token::TokenList,
};
use http::StatusCode;

use crate::{
    login::{Credentials, LoggedIn},
    operation::{
        Access::{Needs, Open, Watches},
        Operation, delete, get, patch, post, put,
    },
    routes::{
        attach, auth as login, cast, cdp, control, desktop, events, extensions, files, health,
        live, metrics, openapi, pages, private, profiles, sessions, settings, tokens, wall,
    },
};

/// A JSON object whose fields another specification defines.
type AnyObject = std::collections::BTreeMap<String, serde_json::Value>;

/// The table.
pub fn operations() -> Vec<Operation> {
    [
        server_itself(),
        signing_in(),
        changing(),
        lifecycle(),
        endings::operations(),
        attaching(),
        kept(),
        watching(),
        driving(),
        files_of_sessions(),
        exec::operations(),
        reaching::the_network(),
        debugging(),
        actions::of_the_browser(),
        actions::of_the_desktop(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The server itself.
fn server_itself() -> Vec<Operation> {
    vec![
        get("/", Open, "home", pages::app)
            .doc("The web page: all sessions, live.")
            .returns_text("text/html"),
        get("/login", Open, "login_page", pages::app)
            .doc("The web page, where one logs in.")
            .returns_text("text/html"),
        get("/sessions/{id}", Open, "session_page", pages::session)
            .doc("The web page of one session. Whether there is one, it asks as any client would.")
            .returns_text("text/html"),
        get("/settings", Open, "settings_page", pages::app)
            .doc("The web page, where an admin changes settings.")
            .returns_text("text/html"),
        get("/docs", Open, "docs_page", pages::docs)
            .doc("The API reference, for reading.")
            .returns_text("text/html"),
        get("/vnc.html", Open, "viewer_page", pages::viewer)
            .doc("A session's desktop on a separate page, by ticket.")
            .returns_text("text/html"),
        get("/embed/{id}", Open, "embed_session", pages::embed)
            .doc("A session's desktop for a frame of another page, by `ticket` in the query.")
            .status(StatusCode::TEMPORARY_REDIRECT),
        get("/embed.html", Open, "embedded_page", pages::embedded)
            .doc("The page that `/embed/{id}` leads to; HELMDECK_EMBED_ANCESTORS says who may frame it.")
            .returns_text("text/html"),
        get("/assets/{file}", Open, "page_asset", pages::asset)
            .doc("A script, style or picture of the web page.")
            .returns_text("application/octet-stream"),
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
            .doc("The server's metrics, for Prometheus.")
            .returns_text(metrics::MEDIA_TYPE),
        get("/api/v1/openapi.json", Open, "openapi", openapi::openapi)
            .doc("This document.")
            .returns::<AnyObject>(),
    ]
}

/// Logging in, and looking after tokens.
fn signing_in() -> Vec<Operation> {
    vec![
        post("/api/v1/auth/login", Open, "login", login::login)
            .doc("Log in with the admin's user name and password; the token is good for 12 hours.")
            .takes::<Credentials>()
            .returns::<LoggedIn>(),
        post("/api/v1/auth/cookie", Open, "log_in_by_cookie", login::log_in_by_cookie)
            .doc(
                "Log in as the web page does: the token comes as a cookie that no script can read.",
            )
            .takes::<Credentials>()
            .returns::<login::Me>(),
        delete("/api/v1/auth/cookie", Needs(SessionsRead), "log_out", login::log_out)
            .doc("Log out: the cookie goes, and its token is revoked.")
            .status(StatusCode::NO_CONTENT),
        get("/api/v1/auth/me", Needs(SessionsRead), "show_me", login::me)
            .doc("Who is logged in.")
            .returns::<login::Me>(),
        get("/api/v1/tokens", Needs(SessionsRead), "list_tokens", tokens::list_tokens)
            .doc("The caller's tokens that have not expired; all tokens, for an admin.")
            .returns::<TokenList>(),
        delete("/api/v1/tokens/{id}", Needs(SessionsRead), "revoke_token", tokens::revoke_token)
            .doc("Revoke a token, at once; what was opened with it is closed.")
            .status(StatusCode::NO_CONTENT),
    ]
}

/// Settings.
fn changing() -> Vec<Operation> {
    vec![
        get("/api/v1/settings", Needs(SessionsRead), "show_settings", settings::show_settings)
            .doc("The settings that new sessions follow.")
            .returns::<Settings>(),
        patch("/api/v1/settings", Needs(Admin), "change_settings", settings::change_settings)
            .doc("Change settings. Sessions that exist stay as they are.")
            .takes::<ChangeSettings>()
            .returns::<Settings>(),
    ]
}

/// Creating, seeing and ending sessions.
fn lifecycle() -> Vec<Operation> {
    vec![
        post("/api/v1/sessions", Needs(SessionsWrite), "create_session", sessions::create_session)
            .doc("Create a session. Answers when it is ready, or at once with `wait=false`.")
            .query::<sessions::CreateQuery>()
            .takes_as::<SessionSpec>(sessions::create_schema, false)
            .returns::<Session>()
            .status(StatusCode::CREATED),
        get("/api/v1/sessions", Needs(SessionsRead), "list_sessions", sessions::list_sessions)
            .doc("The sessions the caller may see, oldest first; or those that have ended.")
            .query::<sessions::ListQuery>()
            .returns::<SessionList>(),
        get("/api/v1/sessions/{id}", Needs(SessionsRead), "show_session", sessions::show_session)
            .doc("One session.")
            .returns::<Session>(),
        delete("/api/v1/sessions/{id}", Needs(SessionsWrite), "end_session", sessions::end_session)
            .doc("End a session. Succeeds for one that has ended; 404 if there never was one of the caller's.")
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
    ]
}

/// Attached displays and browsers.
fn attaching() -> Vec<Operation> {
    vec![
        get("/api/v1/attach", Needs(Admin), "attach", attach::attach)
            .doc(
                "Make an existing display or browser a session, over a WebSocket: what \
                 `helmdeck attach` connects to. By bearer token only.",
            )
            .upgrades(),
        get("/api/v1/attach/{id}/stream", Needs(Admin), "attach_stream", attach::stream)
            .doc("A connection for the server to take, of the program that attached the session.")
            .upgrades(),
    ]
}

/// What is kept between sessions.
fn kept() -> Vec<Operation> {
    vec![
        get("/api/v1/profiles", Needs(SessionsWrite), "list_profiles", profiles::list_profiles)
            .doc("The caller's browser profiles: what sessions were created with as `profile`.")
            .returns::<ProfileList>(),
        delete(
            "/api/v1/profiles/{name}",
            Needs(SessionsWrite),
            "delete_profile",
            profiles::delete_profile,
        )
        .doc("Delete a profile of the caller's that no session has.")
        .status(StatusCode::NO_CONTENT),
        get(
            "/api/v1/extensions",
            Needs(SessionsWrite),
            "list_extensions",
            extensions::list_extensions,
        )
        .doc("The caller's browser extensions: what sessions can be created with as `extensions`.")
        .returns::<ExtensionList>(),
        put(
            "/api/v1/extensions/{name}",
            Needs(SessionsWrite),
            "add_extension",
            extensions::add_extension,
        )
        .doc(
            "Add a browser extension, a .zip or .crx of at most 64 MB, or put it in another's \
             place: `curl -T`. Its `manifest.json` is at the root or in a single folder.",
        )
        .takes_bytes()
        .returns::<Extension>()
        .status(StatusCode::CREATED),
        delete(
            "/api/v1/extensions/{name}",
            Needs(SessionsWrite),
            "delete_extension",
            extensions::delete_extension,
        )
        .doc("Delete an extension of the caller's. Sessions that have it keep it.")
        .status(StatusCode::NO_CONTENT),
    ]
}

/// Watching sessions.
fn watching() -> Vec<Operation> {
    vec![
        get("/api/v1/events", Watches, "events", events::events)
            .doc(
                "What happens in the caller's sessions, as server-sent events: `session`, \
                 `session_gone`, `action`, `agent_status`, `control`, `idle`, and `reset` if events \
                 were lost. `session_gone` says `end_reason` and `ended_at`; `idle` says \
                 `idle_ends_at`, null while the session is in use. Goes on after \
                 `Last-Event-ID`. With a ticket: of its session only.",
            )
            .query::<events::EventsQuery>()
            .returns_text("text/event-stream"),
        get(
            "/api/v1/sessions/{id}/actions",
            Needs(SessionsRead),
            "session_actions",
            events::session_actions,
        )
        .doc("What was done in a session, by whom; also after its end.")
        .query::<events::ActionsQuery>()
        .returns::<ActionList>(),
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
        post("/api/v1/sessions/{id}/tickets", desktop::ACT, "create_ticket", live::create_ticket)
            .doc("Make a ticket. Its holder can watch the session for a limited time, without a token.")
            .may_take::<NewTicket>()
            .returns::<Ticket>()
            .status(StatusCode::CREATED),
        delete(
            "/api/v1/sessions/{id}/tickets/{ticket}",
            desktop::ACT,
            "revoke_ticket",
            live::revoke_ticket,
        )
        .doc("Revoke a ticket by its id, at once; connections by it are closed.")
        .status(StatusCode::NO_CONTENT),
        get("/api/v1/desktop/vnc-url", desktop::ACT, "desktop_vnc_url", live::vnc_url)
            .doc(
                "Where people can watch a session's desktop: the address of a page, with a ticket.",
            )
            .query::<live::UrlQuery>()
            .returns::<VncUrl>(),
    ]
}

/// Who drives.
fn driving() -> Vec<Operation> {
    vec![
        get(
            "/api/v1/sessions/{id}/control",
            Needs(SessionsRead),
            "show_control",
            control::show_control,
        )
        .doc("Who drives the session.")
        .returns::<Control>(),
        post(
            "/api/v1/sessions/{id}/control/take",
            desktop::ACT,
            "take_control",
            control::take_control,
        )
        .doc(
            "Take control by hand: actions of agents fail with `control_taken` and `control_held` \
             until it is released.",
        )
        .may_take::<TakeControl>()
        .returns::<Control>(),
        post(
            "/api/v1/sessions/{id}/control/release",
            desktop::ACT,
            "release_control",
            control::release_control,
        )
        .doc("Hand control back to agents, with a message if there is something to say.")
        .may_take::<ReleaseControl>()
        .returns::<Control>(),
        post(
            "/api/v1/sessions/{id}/private-sign-in",
            desktop::ACT,
            "start_private_sign_in",
            private::start,
        )
        .doc(
            "Sign in privately, for a person who has control: the page opens in a separate browser \
             that no agent, program or debugging client can reach. The person's `cdp-stream` shows \
             it and takes their input; other viewers see `private`, and `browser/…` calls of others \
             fail with `private` until it ends.",
        )
        .returns::<PrivateSignIn>(),
        delete(
            "/api/v1/sessions/{id}/private-sign-in",
            desktop::ACT,
            "end_private_sign_in",
            private::end,
        )
        .doc(
            "End a private sign-in. The agent's tab goes to the page where the person was, with the \
             cookies and storage of the sites they visited; with `discard`, nothing is handed over. \
             Releasing control ends it, too; losing control ends it and hands nothing over.",
        )
        .query::<private::EndQuery>()
        .returns::<PrivateEnded>(),
    ]
}

/// The browser's debugging protocol, for programs outside.
fn debugging() -> Vec<Operation> {
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

/// Files in and out.
fn files_of_sessions() -> Vec<Operation> {
    vec![
        get("/api/v1/sessions/{id}/files", desktop::ACT, "list_files", files::list_files)
            .doc("What a folder of the session's home holds.")
            .query::<files::FolderQuery>()
            .returns::<FileList>(),
        get("/api/v1/sessions/{id}/files/{*path}", desktop::ACT, "read_file", files::read_file)
            .doc("A file of the session's home, to save; with `Range: bytes=`, one part of it (206).")
            .returns_bytes(),
        put("/api/v1/sessions/{id}/files/{*path}", desktop::ACT, "write_file", files::write_file)
            .doc(
                "Put a file into the session's home, whole or not at all: `curl -T`. Missing \
                 folders are made.",
            )
            .query::<files::WriteQuery>()
            .takes_bytes()
            .returns::<FileStored>()
            .status(StatusCode::CREATED),
    ]
}
