//! The debugging protocol of a fake guest's browser: every command succeeds.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::guest::FakeGuest;

/// Answers commands in order, and records them as `cdp_command`.
pub async fn serve(guest: &FakeGuest, stream: impl AsyncRead + AsyncWrite) -> std::io::Result<()> {
    let (from_server, mut to_server) = tokio::io::split(stream);
    let mut commands = BufReader::new(from_server).split(0);
    while let Some(command) = commands.next_segment().await? {
        let Ok(command) = serde_json::from_slice::<Value>(&command) else { return Ok(()) };
        guest.note("cdp_command", command.clone(), "").answered();
        let mut answer = json!({ "id": command["id"], "result": result(&command) });
        if let Some(session) = command.get("sessionId") {
            answer["sessionId"] = session.clone();
        }
        to_server.write_all(format!("{answer}\0").as_bytes()).await?;
    }
    Ok(())
}

fn result(command: &Value) -> Value {
    match command["method"].as_str() {
        Some("Browser.getVersion") => json!({
            "protocolVersion": "1.3", "product": "Chrome/1.0", "revision": "1",
            "userAgent": "fake", "jsVersion": "1.0",
        }),
        Some("Target.getTargets") => json!({ "targetInfos": [{
            "targetId": "fake", "type": "page", "title": "fake", "url": "about:blank",
        }] }),
        Some("Target.createTarget") => json!({ "targetId": "fake" }),
        Some("Target.attachToTarget") => json!({ "sessionId": "fake-session" }),
        _ => json!({}),
    }
}
