//! The panel starts after the session is ready; the first screenshot waits until it is drawn.

use std::{sync::Arc, time::Duration};

use helmdeck_display::Display;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

/// It takes half a second on a busy machine with two cores. After this, screenshots do not wait.
const DEADLINE: Duration = Duration::from_secs(5);
/// The second part of its windows' WM_CLASS.
const WINDOW_CLASS: &str = "xfce4-panel";

/// Whether the panel is being drawn for the first time. False before [`Panel::begin`].
#[derive(Clone, Default)]
pub struct Panel {
    drawing: Arc<watch::Sender<bool>>,
}

/// Dropping this means that the panel is drawn, or no longer waited for.
pub struct Drawing(Arc<watch::Sender<bool>>);

impl Panel {
    /// Makes screenshots wait from now on.
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
    /// Waits until the panel is drawn, up to a limit.
    pub async fn watch(self, display: Display) {
        // The session works without a panel.
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
        let waiting = helmdeck_task::spawn({
            let panel = panel.clone();
            async move { panel.drawn().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(drawing);
        waiting.await.unwrap();
    }
}
