//! Fixtures that send notifications, or refuse clients that lack a capability.
#![expect(deprecated, reason = "protocol versions that the suite tests have logging and sampling")]

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResponse, ClientCapabilities, LoggingLevel, LoggingMessageNotificationParam,
        ProgressNotificationParam,
    },
    service::RequestContext,
};
use serde_json::json;

use super::said;

pub const NAMES: [&str; 4] = [
    "test_logging_tool",
    "test_missing_capability",
    "test_tool_with_logging",
    "test_tool_with_progress",
];

/// The suite wants notifications that are apart.
const PAUSE: Duration = Duration::from_millis(50);

pub async fn call(
    tool: &str,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    match tool {
        "test_tool_with_logging" => {
            for line in
                ["Tool execution started", "Tool processing data", "Tool execution completed"]
            {
                log(context, LoggingLevel::Info, line).await;
                tokio::time::sleep(PAUSE).await;
            }
        }
        // In this protocol version, a request says which messages it wants.
        "test_logging_tool" => {
            if let Some(level) = context.meta.log_level() {
                log(context, level, "a message that was asked for").await;
            }
        }
        "test_tool_with_progress" => {
            for progress in [0.0, 50.0, 100.0] {
                if let Some(token) = context.meta.get_progress_token() {
                    let notice = ProgressNotificationParam::new(token, progress).with_total(100.0);
                    let _ = context.peer.notify_progress(notice).await;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        "test_missing_capability" => {
            let declared = context.client_capabilities().unwrap_or_default();
            if declared.sampling.is_none() {
                let needed = ClientCapabilities::builder().enable_sampling().build();
                return Some(Err(ErrorData::missing_required_client_capability(needed)));
            }
        }
        _ => return None,
    }
    Some(Ok(said("Done.")))
}

async fn log(context: &RequestContext<RoleServer>, level: LoggingLevel, line: &str) {
    let message = LoggingMessageNotificationParam::new(level, json!(line));
    let _ = context.peer.notify_logging_message(message).await;
}
