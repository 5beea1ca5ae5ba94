//! The sites of a test, and its downloads.

use helmdeck_vision::{Outcome, eyes::Scene};
use helmdeck_wire::{observe::Effect, site::Site};

use super::{End, Test};
use crate::page_tools::{self, ModelStep};

impl Test<'_> {
    /// Renews the limit of sites before a step, which opens no other site unless a person allows it.
    pub async fn stays(&mut self, told: &ModelStep) -> Result<(), End> {
        self.fence.renew().await?;
        let wanted = (told.tool == "browser_navigate").then(|| told.text("url")).flatten();
        match wanted {
            Some(url) => self.permitted(&url).await,
            None => Ok(()),
        }
    }

    /// Ends the test if the page is on another site, the browser was kept from opening one, or a download began that the
    /// instruction does not ask for, and no person allows it. Says what a person allowed to open.
    pub async fn inside(&mut self) -> Result<Option<String>, End> {
        let (refused, shown) = (self.fence.refused().await?, self.url.clone());
        for url in refused.iter().chain([&shown]) {
            self.permitted(url).await?;
        }
        let nothing = Scene::default();
        if self.fence.take_downloads()
            && let Some(question) = self.scope.left(&nothing, &nothing, &[Effect::Download])
        {
            self.agreed(question, "the instruction or `allow` can name a download").await?;
        }
        Ok(refused.last().map(|last| {
            let last = page_tools::data(last);
            format!("The browser did not open {last}. A person has allowed it now: try again.")
        }))
    }

    /// Asks the person who watches whether the test may use the site of an address, unless it may already.
    async fn permitted(&mut self, url: &str) -> Result<(), End> {
        let page = url.starts_with("http://") || url.starts_with("https://");
        let Some(site) = Site::of(url).filter(|_| page) else { return Ok(()) };
        if self.sites.iter().any(|own| own.covers(&site)) {
            return Ok(());
        }
        let question = format!("open {url}, which is on another site");
        self.agreed(question, "`allow` names more sites").await?;
        self.sites.push(site);
        self.fence.limit(self.sites.clone()).await.map_err(End::from)
    }

    /// Asks the person who watches. Ends the test unless that person agrees.
    async fn agreed(&self, question: String, hint: &str) -> Result<(), End> {
        match self.watched.eyes().confirm(&question).await {
            Some(true) => Ok(()),
            Some(false) => Err(End::new(Outcome::Denied, format!("a person refused: {question}"))),
            None => {
                let reason = format!("a person has to decide: {question}; {hint}");
                let question = Some(question);
                Err(End { outcome: Outcome::NeedsConfirmation, reason, question })
            }
        }
    }
}
