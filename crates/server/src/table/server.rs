//! The server itself: pages, health, login, tokens and settings.

use helmdeck_wire::Scope;
use http::StatusCode;

use crate::{
    login::{Credentials, LoggedIn},
    operation::{
        Access::{AnyToken, Needs, Open},
        Operation, delete, get, post,
    },
    routes::{
        auth as login, health, metrics, openapi, pages, settings as change, tokens,
        tools as tool_routes,
    },
    tool::{Nature, json_tool, tool},
};

use super::live::AnyObject;

/// Pages and health checks.
pub fn pages_and_health() -> Vec<Operation> {
    vec![
        get("/", Open, "home", pages::app)
            .doc("The web page: all sessions, live.")
            .returns_text("text/html"),
        get("/login", Open, "login_page", pages::app)
            .doc("The web page: login.")
            .returns_text("text/html"),
        get("/sessions/{id}", Open, "session_page", pages::inner)
            .doc("The web page: one session. Whether the session exists is checked by the page.")
            .returns_text("text/html"),
        get("/settings", Open, "settings_page", pages::app)
            .doc("The web page: settings for admins.")
            .returns_text("text/html"),
        get("/connect", Open, "connect_page", pages::app)
            .doc("The web page: connecting an agent.")
            .returns_text("text/html"),
        get("/tokens", Open, "tokens_page", pages::app)
            .doc("The web page: tokens.")
            .returns_text("text/html"),
        get("/packs", Open, "packs_page", pages::app)
            .doc("The web page: packs.")
            .returns_text("text/html"),
        get("/packs/{name}", Open, "pack_page", pages::inner)
            .doc("The web page: one pack. Whether the pack exists is checked by the page.")
            .returns_text("text/html"),
        get("/jobs", Open, "jobs_page", pages::app)
            .doc("The web page: jobs.")
            .returns_text("text/html"),
        get("/audit", Open, "audit_page", pages::app)
            .doc("The web page: the audit log.")
            .returns_text("text/html"),
        get("/credentials", Open, "credentials_page", pages::app)
            .doc("The web page: credentials.")
            .returns_text("text/html"),
        get("/artifacts", Open, "artifacts_page", pages::app)
            .doc("The web page: artifacts.")
            .returns_text("text/html"),
        get("/models", Open, "models_page", pages::app)
            .doc("The web page: models.")
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
            .doc("The page that `/embed/{id}` redirects to, for sites in HELMDECK_EMBED_ANCESTORS.")
            .returns_text("text/html"),
        get("/assets/{file}", Open, "page_asset", pages::asset)
            .doc("A script, style or picture of the web page.")
            .returns_text("application/octet-stream"),
        get("/healthz", Open, "healthz", health::healthz)
            .doc("Check that the server runs, and nothing else.")
            .returns::<health::Health>(),
        get("/readyz", Open, "readyz", health::readyz)
            .doc("Check that the server is ready: the store and the runtime answer.")
            .returns::<health::Health>(),
        get("/version", Open, "version", health::version)
            .doc("The version of helmdeck.")
            .returns::<health::Version>(),
        get("/metrics", Needs(Scope::METRICS_READ), "metrics", metrics::metrics)
            .doc("The server's metrics, for Prometheus.")
            .returns_text(metrics::MEDIA_TYPE),
        get("/api/v1/openapi.json", Open, "openapi", openapi::openapi)
            .doc("This document.")
            .returns::<AnyObject>(),
    ]
}

/// Login and tokens.
pub fn signing_in() -> Vec<Operation> {
    let looks = Nature::default().reads();
    vec![
        post("/api/v1/auth/login", Open, "login", login::login)
            .doc("Log in with the admin's user name and password; the token is valid for 12 hours.")
            .takes::<Credentials>()
            .returns::<LoggedIn>(),
        post("/api/v1/auth/cookie", Open, "log_in_by_cookie", login::log_in_by_cookie)
            .doc("Log in like the web page: the token is set as a cookie that scripts cannot read.")
            .takes::<Credentials>()
            .returns::<login::Me>(),
        delete("/api/v1/auth/cookie", Needs(Scope::SESSIONS_READ), "log_out", login::log_out)
            .doc("Log out: delete the cookie and revoke its token.")
            .status(StatusCode::NO_CONTENT),
        json_tool("token.show_mine", login::me)
            .doc("The current login.")
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .get("/api/v1/auth/me", "show_me"),
        json_tool("token.list", tokens::list_tokens)
            .doc(
                "List the caller's tokens that have not expired, with their last use and the MCP \
                 client that connected with them; all tokens for an admin.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .get("/api/v1/tokens", "list_tokens"),
        json_tool("token.create", tokens::create_token)
            .doc(
                "Create a token for an agent. People create tokens for themselves that allow no more \
                 than their own; an admin creates them for anyone. Agents cannot create tokens.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().changes_world())
            .post("/api/v1/tokens", "create_token")
            .status(StatusCode::CREATED),
        tool("token.revoke", tokens::revoke_token)
            .doc("Revoke a token, and close everything that was opened with it.")
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().changes_world().destroys())
            .delete("/api/v1/tokens/{id}", "revoke_token"),
    ]
}

/// Settings.
pub fn settings() -> Vec<Operation> {
    vec![
        json_tool("settings.show", change::show_settings)
            .doc("The settings for new sessions.")
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().reads())
            .get("/api/v1/settings", "show_settings"),
        json_tool("settings.change", change::change_settings)
            .doc("Change settings. Existing sessions are not affected.")
            .scope(Scope::ADMIN)
            .nature(Nature::default().changes_world().idempotent())
            .patch("/api/v1/settings", "change_settings"),
    ]
}

/// Listing and calling tools.
pub fn tools() -> Vec<Operation> {
    vec![
        json_tool("tool.list", tool_routes::list)
            .doc(
                "List the tools that the caller may call, with the schemas of their arguments and \
                 replies. `search` filters them by words.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().reads())
            .get("/api/v1/tools", "list_tools"),
        post("/api/v1/tools/{name}", AnyToken, "call_tool", tool_routes::call)
            .doc(
                "Call any tool by name, with its arguments as one JSON object. The reply is \
                 that of the tool's own path; the token needs the tool's scope.",
            )
            .may_take::<AnyObject>()
            .returns::<AnyObject>()
            .may_go_on(),
    ]
}
