//! What clients hear without asking: that sessions came and went, and that a screen changed.

use std::time::Duration;

use helmdeck_sessions::EventKind;
use helmdeck_wire::{SessionId, guest::PictureRequest};
use rmcp::{RoleServer, model::ResourceUpdatedNotificationParam, service::Peer};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::client::Client;

/// The most resources that one client can subscribe to.
pub const MOST: usize = 32;
/// The list of sessions.
const SESSIONS: &str = "helmdeck://sessions";
/// The smallest picture there is: only that it changed matters.
const WIDTH: u32 = 64;
const QUALITY: u8 = 30;
/// The most notifications a second for one screen.
const FPS: f32 = 1.0;
/// Between two tries to follow a screen that was lost.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a client may take to receive a notification.
const SEND_DEADLINE: Duration = Duration::from_secs(10);

/// What a client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Sessions came or went.
    List,
    /// The list of tools changed.
    Tools,
    /// The resource with this address changed.
    Resource(String),
}

/// The session whose screen a resource shows.
fn screen_of(uri: &str) -> Option<SessionId> {
    let id = uri.strip_prefix("helmdeck://sessions/")?.strip_suffix("/screenshot")?;
    (!id.contains('/')).then(|| SessionId::new(id))
}

/// Whether clients can hear that the resource with this address changed.
pub fn changes(uri: &str) -> bool {
    uri == SESSIONS || screen_of(uri).is_some()
}

/// Sends the changes of a resource, until the receiver is gone. `None` if it never tells of any, or is
/// not the client's.
pub fn follow(
    client: &Client,
    uri: &str,
    changes: mpsc::Sender<Change>,
) -> Option<AbortOnDropHandle<()>> {
    if uri == SESSIONS {
        return Some(follow_list(client, Change::Resource(uri.to_owned()), changes));
    }
    follow_screen(client, uri, changes)
}

/// Sends this when the list of sessions changes, until the receiver is gone.
pub fn follow_list(
    client: &Client,
    change: Change,
    changes: mpsc::Sender<Change>,
) -> AbortOnDropHandle<()> {
    let client = client.clone();
    AbortOnDropHandle::new(helmdeck_task::spawn(async move {
        let events = client.app.sessions.events();
        let mut events = events.after(events.last());
        loop {
            let told = match events.next().await {
                Ok(event) => {
                    let listed = matches!(event.what, EventKind::Changed | EventKind::Gone(_));
                    listed && client.caller.owns(&event.owner)
                }
                Err(_lost) => true,
            };
            if told && changes.send(change.clone()).await.is_err() {
                return;
            }
        }
    }))
}

/// Sends the changes of the list of tools, until the receiver is gone.
pub fn follow_tools(client: &Client, changes: mpsc::Sender<Change>) -> AbortOnDropHandle<()> {
    let mut changed = client.app.mcp.tool_changes.subscribe();
    AbortOnDropHandle::new(helmdeck_task::spawn(async move {
        while changed.changed().await.is_ok() {
            if changes.send(Change::Tools).await.is_err() {
                return;
            }
        }
    }))
}

/// Sends the changes of a screen, until the session is over or the receiver gone. `None` if the
/// resource does not change by itself, or is not the client's.
fn follow_screen(
    client: &Client,
    uri: &str,
    changes: mpsc::Sender<Change>,
) -> Option<AbortOnDropHandle<()>> {
    let session = client.app.sessions.get(&client.caller, &screen_of(uri)?).ok()?;
    let uri = uri.to_owned();
    Some(AbortOnDropHandle::new(helmdeck_task::spawn(async move {
        while session.is_alive() {
            let wanted = PictureRequest { width: WIDTH, fps: FPS, quality: QUALITY };
            if let Ok(mut frames) = session.frames(wanted).await {
                // The first one shows how the screen is already.
                let mut first = true;
                while let Ok(Some(_)) = frames.next().await {
                    let changed = !std::mem::take(&mut first);
                    if changed && changes.send(Change::Resource(uri.clone())).await.is_err() {
                        return;
                    }
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    })))
}

/// Tells a client of a protocol version with sessions, until it is gone.
pub async fn tell(peer: Peer<RoleServer>, mut changes: mpsc::Receiver<Change>) {
    while let Some(change) = changes.recv().await {
        let sent = async {
            match change {
                Change::List => peer.notify_resource_list_changed().await,
                Change::Tools => peer.notify_tool_list_changed().await,
                Change::Resource(uri) => {
                    peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                }
            }
        };
        match tokio::time::timeout(SEND_DEADLINE, sent).await {
            Ok(Ok(())) | Err(_) => {}
            Ok(Err(_closed)) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_screenshot_of_a_session_is_a_screen() {
        assert_eq!(screen_of("helmdeck://sessions/s1/screenshot"), Some(SessionId::new("s1")));
        for other in ["helmdeck://sessions", "helmdeck://sessions/a/b/screenshot", "file:///x"] {
            assert_eq!(screen_of(other), None, "{other}");
        }
    }

    #[test]
    fn sessions_and_their_screens_tell_that_they_changed_and_nothing_else_does() {
        assert!(changes("helmdeck://sessions") && changes("helmdeck://sessions/s1/screenshot"));
        for other in ["helmdeck://packs", "helmdeck://sessions/s1", "helmdeck://nothing", ""] {
            assert!(!changes(other), "{other}");
        }
    }
}
