//! The panel starts after the session is ready; the first screenshot waits until it is drawn.

use std::{sync::Arc, time::Duration};

use helmdeck_display::Display;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

/// Half a second on a busy machine with two cores. A panel that takes longer is not waited for.
const DEADLINE: Duration = Duration::from_secs(5);
/// The second part of its windows' WM_CLASS.
const WINDOW_CLASS: &str = "xfce4-panel";

/// Whether the panel is being drawn for the first time. Not before [`Panel::begin`].
#[derive(Clone, Default)]
pub struct Panel {
    drawing: Arc<watch::Sender<bool>>,
}

/// The panel is drawn, or not waited for any longer, when this is dropped.
pub struct Drawing(Arc<watch::Sender<bool>>);

impl Panel {
    /// From now on, screenshots wait.
    pub fn begin(&self) -> Drawing {
        self.drawing.send_replace(true);
        Drawing(self.drawing.clone())
    }

    /// Returns at once unless the panel is being drawn for the first time.
    pub async fn drawn(&self) {
        let mut drawing = self.drawing.subscribe();
        let _ = timeout(DEADLINE, drawing.wait_for(|drawing| !drawing)).await;
    }
}

impl Drawing {
    /// Waits until the panel shows, but not for long.
    pub async fn watch(self, display: Display) {
        // A session without a panel is still a session.
        let _ = display.wait_until_drawn(WINDOW_CLASS, Instant::now() + DEADLINE).await;
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn screenshots_wait_while_the_panel_is_drawn() {
        let panel = Panel::default();
        panel.drawn().await;
        let drawing = panel.begin();
        let waiting = tokio::spawn({
            let panel = panel.clone();
            async move { panel.drawn().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(drawing);
        waiting.await.unwrap();
    }
}
