//! The audit log.

use helmdeck_wire::Scope;

use crate::{
    operation::{Access::Needs, Media, Operation, Output, get},
    routes::audit,
    tool::{Nature, json_tool, tool},
};

/// An exported audit log.
const FILE: Media = Media {
    doc: "The rows, oldest first.",
    types: &["application/x-ndjson", "text/csv"],
    headers: &[],
};

/// Reading the audit log.
pub fn operations() -> Vec<Operation> {
    let looks = Nature::default().reads();
    vec![
        json_tool("audit.list", audit::list_audit)
            .doc(
                "List who did what, newest first: logins, tokens, sessions, takeovers, commands, \
                 refused connections. `next_cursor` continues with older rows; rows that arrive \
                 meanwhile do not shift the pages.",
            )
            .scope(Scope::AUDIT_READ)
            .nature(looks)
            .get("/api/v1/audit", "list_audit"),
        tool("audit.export", audit::export_audit)
            .doc("The audit log as a file in JSON Lines or CSV, oldest first.")
            .scope(Scope::AUDIT_READ)
            .nature(looks)
            .output(Output::Bytes(FILE))
            .get("/api/v1/audit/export", "export_audit"),
        get("/api/v1/audit/stream", Needs(Scope::AUDIT_READ), "audit_stream", audit::stream_audit)
            .doc(
                "Follow the audit log as server-sent events named `audit`, one for each new row. \
                 Continues after `Last-Event-ID`, also after a restart of the server.",
            )
            .query::<audit::RowQuery>()
            .returns_text("text/event-stream"),
    ]
}
