//! The connection to a browser that may be started again.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

use crate::{Cdp, CdpError};

/// Where the connection to the browser of the moment is found.
pub struct Current {
    cdp: watch::Sender<Option<Cdp>>,
}

impl Current {
    /// No browser yet.
    pub fn new() -> Self {
        Self { cdp: watch::Sender::new(None) }
    }

    /// There is a new browser; the one before is let go.
    pub fn set(&self, cdp: Cdp) {
        self.cdp.send_replace(Some(cdp));
    }

    /// There is no browser, until the next is set.
    pub fn clear(&self) {
        self.cdp.send_replace(None);
    }

    /// The connection to a browser that is there, waiting for one if need be.
    pub async fn get(&self, deadline: Duration) -> Result<Cdp, CdpError> {
        let mut watched = self.cdp.subscribe();
        let alive = |cdp: &Option<Cdp>| cdp.as_ref().is_some_and(|cdp| !cdp.is_closed());
        let found = timeout(deadline, watched.wait_for(alive)).await;
        found.ok().and_then(Result::ok).and_then(|cdp| cdp.clone()).ok_or(CdpError::BrowserGone)
    }
}

impl Default for Current {
    fn default() -> Self {
        Self::new()
    }
}
