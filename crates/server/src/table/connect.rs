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
                "List the MCP clients that can be connected, and which have connected with the \
                 caller's tokens.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .get("/api/v1/connect", "list_connect_clients"),
        json_tool("connect.show", connect::show_client)
            .doc(
                "Show how to connect an MCP client, step by step, with `$HELMDECK_TOKEN` in place of \
                 the token.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .get("/api/v1/connect/{client}", "show_connect_client"),
        json_tool("connect.create", connect::connect_client)
            .doc(
                "Create a token for an MCP client, and return the steps that connect it, with the \
                 token in them. The token allows everything in the caller's own sessions, with \
                 `models` the use of models, and nothing else. Only people and admins can create \
                 tokens.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().changes_world())
            .post("/api/v1/connect/{client}", "connect_client")
            .optional_body()
            .status(StatusCode::CREATED),
        get("/api/v1/skill", Open, "skill", connect::skill)
            .doc("The SKILL.md for agents: the tools, and how to use them.")
            .returns_text("text/markdown"),
    ]
}
