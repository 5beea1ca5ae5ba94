//! What was recorded of pages: console messages and requests.

use helmdeck_wire::browser::{
    ConsoleLog, ExportHar, Har, NetworkLog, Patience, ReadConsole, ReadNetwork, TabId,
};

use super::{Browser, due};
use crate::{BrowserError, record};

impl Browser {
    /// Returns recorded console messages.
    pub async fn console(&self, wanted: &ReadConsole) -> Result<ConsoleLog, BrowserError> {
        self.recorded(wanted.tab.as_ref()).await?;
        Ok(self.shared.records.lock().console.read(wanted))
    }

    /// Returns recorded requests.
    pub async fn network(&self, wanted: &ReadNetwork) -> Result<NetworkLog, BrowserError> {
        self.recorded(wanted.tab.as_ref()).await?;
        Ok(self.shared.records.lock().network.read(wanted))
    }

    /// Returns recorded requests as a HAR document.
    pub async fn har(&self, wanted: &ExportHar) -> Result<Har, BrowserError> {
        self.recorded(wanted.tab.as_ref()).await?;
        let (requests, pages) = self.shared.records.lock().network.export(wanted);
        Ok(record::har(&requests, &pages, wanted.secrets))
    }

    /// Waits until all events of a tab, or of all tabs, are recorded.
    async fn recorded(&self, tab: Option<&TabId>) -> Result<(), BrowserError> {
        let running = self.running(due(Patience::default())).await?;
        running.flush().await;
        match tab {
            // The records of a closed tab can still be read.
            Some(tab) if !self.shared.records.lock().knows(tab) => running.find(tab).map(|_| ()),
            _ => Ok(()),
        }
    }
}
