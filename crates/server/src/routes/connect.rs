//! Connecting MCP clients, and the skill that tells agents how to use helmdeck.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use helmdeck_wire::connect::{ConnectGuide, ConnectList, ConnectRequest, ToolProfile, Transport};
use http::header;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    App, connect,
    error::ApiResult,
    tool::{Call, NoInput},
};

/// Which client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneClient {
    /// Its id, such as `claude-code`.
    client: String,
}

/// Connect a client with a new token.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewConnection {
    /// The client's id, such as `claude-code`.
    client: String,
    /// Label of the token; the client's title by default.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    label: Option<String>,
    /// Seconds until the token expires; 30 days by default, one year at most.
    #[serde(default)]
    #[schemars(range(min = 60, max = 31_536_000))]
    ttl_s: Option<u64>,
    /// The tools that the client lists; its default profile if not given.
    #[serde(default)]
    profile: Option<ToolProfile>,
    /// How it connects; its default transport if not given.
    #[serde(default)]
    transport: Option<Transport>,
    /// Whether the client may use models, which may cost money: for tools that look at the screen, and
    /// for `/v1`. Your own token needs `models:use`.
    #[serde(default)]
    models: bool,
}

/// Lists the clients.
pub async fn list_clients(call: Call, _: NoInput) -> ApiResult<ConnectList> {
    Ok(ConnectList { clients: connect::list(&call.app, &call.caller).await? })
}

/// Instructions for a client.
pub async fn show_client(call: Call, one: OneClient) -> ApiResult<ConnectGuide> {
    let client = connect::client(&one.client)?;
    connect::show(&call.app, &call.caller, &call.address, client).await
}

/// Instructions for a client, with a new token.
pub async fn connect_client(call: Call, new: NewConnection) -> ApiResult<ConnectGuide> {
    let NewConnection { client, label, ttl_s, profile, transport, models } = new;
    let client = connect::client(&client)?;
    let request = ConnectRequest { label, ttl_s, profile, transport, models };
    connect::create(&call.app, &call.caller, &call.address, client, request).await
}

/// The SKILL.md.
pub async fn skill(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], app.skill()).into_response()
}
