//! The MCP door.

use crate::{
    mcp,
    operation::{
        Access::{AnyToken, Open},
        Operation, delete, get, post,
    },
};

const DOC: &str = "The Model Context Protocol over streamable HTTP, in every revision from 2024-11-05 to \
    2026-07-28. Lists the tools of this API for MCP clients.\n\n\
    `profile` lists fewer tools: `core`, `browser`, `desktop`, `code`; every tool can be called all the \
    same. `session` names the session that calls work in when they name none. See docs/mcp.md.";
const STREAM: &str = "The stream of messages from the server, for clients of protocol versions before \
    2026-07-28.";
const END: &str = "End an MCP session of a protocol version before 2026-07-28.";

/// `/mcp`, its alias, the old transport, and what clients read about authorization.
pub fn operations() -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, suffix) in [("/mcp", ""), ("/api/v1/mcp", "_alias")] {
        let id = |name: &str| format!("{name}{suffix}");
        let listed = |operation: Operation| match suffix {
            "" => operation,
            _ => operation.undocumented(),
        };
        operations.extend([
            listed(post(path, AnyToken, &id("mcp"), mcp::serve).doc(DOC)),
            listed(get(path, AnyToken, &id("mcp_stream"), mcp::serve).doc(STREAM)),
            listed(delete(path, AnyToken, &id("mcp_end"), mcp::serve).doc(END)),
        ]);
    }
    operations.extend([
        get("/api/v1/mcp/sse", AnyToken, "mcp_sse", mcp::open_sse)
            .doc("MCP over server-sent events, the transport of 2024-11-05, for old clients.")
            .returns_text("text/event-stream"),
        post("/api/v1/mcp/sse", AnyToken, "mcp_sse_message", mcp::post_sse)
            .doc("A message for a stream that `GET /api/v1/mcp/sse` opened.")
            .status(http::StatusCode::ACCEPTED),
    ]);
    for (path, id) in [
        ("/.well-known/oauth-protected-resource", "protected_resource"),
        ("/.well-known/oauth-protected-resource/mcp", "protected_resource_mcp"),
    ] {
        let doc = "What MCP clients read about authorization (RFC 9728).";
        operations.push(get(path, Open, id, mcp::metadata).doc(doc).undocumented());
    }
    operations
}
