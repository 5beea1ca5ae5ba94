//! Connecting MCP clients.

use helmdeck_wire::Scope;
use http::StatusCode;

use crate::{
    operation::{Access::Open, Operation, get},
    routes::connect,
    tool::{Nature, json_tool},
};

/// Connecting MCP clients.
pub fn operations() -> Vec<Operation> {
    let looks = Nature::default().reads();
    vec![
        json_tool("connect.list", connect::list_clients)
            .doc(
                "The MCP clients that helmdeck can configure, and which of them have connected with \
                 the caller's tokens.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .get("/api/v1/connect", "list_connect_clients"),
        json_tool("connect.show", connect::show_client)
            .doc(
                "How to connect an MCP client, step by step. `$HELMDECK_TOKEN` stands where the \
                 token goes.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .get("/api/v1/connect/{client}", "show_connect_client"),
        json_tool("connect.create", connect::connect_client)
            .doc(
                "Make a token for an MCP client, and answer with the steps that connect it, with \
                 the token in them. It allows everything in the caller's own sessions and nothing \
                 else. For people and admins; an agent cannot make tokens.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().changes_world())
            .post("/api/v1/connect/{client}", "connect_client")
            .optional_body()
            .status(StatusCode::CREATED),
        get("/api/v1/skill", Open, "skill", connect::skill)
            .doc("The SKILL.md that tells agents how to use helmdeck, with its tools.")
            .returns_text("text/markdown"),
    ]
}
