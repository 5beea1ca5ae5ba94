//! Starts and kills of commands that continue after their caller has left.

use helmdeck_link::Link;
use helmdeck_wire::{error::with_causes, exec::ExecId};
use tokio::sync::watch;
use tracing::warn;

/// How many starts and kills of a session's commands are under way. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Kills(watch::Sender<usize>);

/// A start or a kill that is under way.
pub(super) struct UnderWay(watch::Sender<usize>);

impl Default for Kills {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Kills {
    pub(super) fn begin(&self) -> UnderWay {
        self.0.send_modify(|under_way| *under_way += 1);
        UnderWay(self.0.clone())
    }

    /// Kills a command whose caller has left. The link has the deadline.
    pub(super) fn kill(&self, link: Link, id: ExecId) {
        let under_way = self.begin();
        helmdeck_task::spawn(async move {
            if let Err(error) = link.kill_exec(&id).await {
                warn!(exec.id = id.as_str(), error = with_causes(&error), "Failed to kill command");
            }
            drop(under_way);
        });
    }

    /// Waits until none is under way.
    pub(super) async fn done(&self) {
        let mut under_way = self.0.subscribe();
        // The sender is in this value, so it is not gone.
        let _ = under_way.wait_for(|under_way| *under_way == 0).await;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.send_modify(|under_way| *under_way -= 1);
    }
}
