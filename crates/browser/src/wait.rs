//! Waits for conditions on a page.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use helmdeck_wire::browser::{Selector, WaitFor, Waited};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    BrowserError,
    locate::{Ask, GRACE, Want, millis, written},
    page::Frame,
    page_action::PageAction,
    world::Outcome,
};

/// Conditions are checked again after this time, because all must hold at once.
const SLICE: Duration = Duration::from_millis(250);

#[derive(Deserialize)]
struct Seen {
    state: String,
    #[serde(default)]
    why: String,
    #[serde(default)]
    holds: Vec<bool>,
}

/// A condition that does not hold yet.
enum Unmet<'a> {
    Url,
    Quiet,
    /// The element is not visible, or still is.
    Element(&'a Selector),
}

impl PageAction {
    pub async fn wait_for(&mut self, wait: &WaitFor) -> Result<Waited, BrowserError> {
        let begun = Instant::now();
        let mut selectors: Vec<Selector> = wait.selector.iter().cloned().collect();
        selectors.extend(
            wait.text.iter().map(|text| Selector::Text { text: text.clone(), exact: false }),
        );
        loop {
            let now = Instant::now();
            let over = now >= self.deadline;
            let lacks = match self.lacks(wait, now) {
                None if selectors.is_empty() => None,
                None => {
                    let slice = SLICE.min(self.deadline.saturating_duration_since(now));
                    match self.unseen(&selectors, wait.gone, slice).await? {
                        Some(selector) => Some(Unmet::Element(selector)),
                        None => self.lacks(wait, Instant::now()),
                    }
                }
                lacks => lacks,
            };
            let Some(lacks) = lacks else {
                let waited_ms = millis(begun.elapsed());
                return Ok(Waited { acted: self.acted().await?, waited_ms });
            };
            if over {
                return Err(self.missed(wait, &lacks).await);
            }
            if !matches!(lacks, Unmet::Element(_)) {
                let quiet = self.page.with(|state| state.network.quiet_at());
                let again = quiet.filter(|_| matches!(lacks, Unmet::Quiet)).unwrap_or(now + SLICE);
                self.page.news(again.min(self.deadline)).await;
            }
        }
    }

    fn lacks(&self, wait: &WaitFor, now: Instant) -> Option<Unmet<'static>> {
        let url = self.page.main().map(|frame| frame.url).unwrap_or_default();
        if wait.url.as_ref().is_some_and(|part| !url.contains(part)) {
            return Some(Unmet::Url);
        }
        let quiet = self.page.with(|state| state.network.quiet_at());
        let quiet = quiet.is_some_and(|quiet| quiet <= now);
        (wait.network_idle && !quiet).then_some(Unmet::Quiet)
    }

    /// The first selector that is visible in no frame, or still visible in one.
    async fn unseen<'a>(
        &self,
        selectors: &'a [Selector],
        gone: bool,
        slice: Duration,
    ) -> Result<Option<&'a Selector>, BrowserError> {
        if let [Selector::Ref(_), ..] = selectors {
            return self.ref_unseen(selectors, gone, slice).await;
        }
        let frames = self.page.frames();
        // With several frames, it is unknown which one will have the element.
        let slice = if frames.len() > 1 { slice.min(SLICE / 2) } else { slice };
        let looked =
            join_all(frames.iter().map(|frame| self.look_for(frame, selectors, gone, slice)));
        let mut all = vec![false; selectors.len()];
        for (holds, frame) in looked.await.into_iter().zip(&frames) {
            let holds = match holds {
                Ok(holds) => holds,
                // A frame that hangs or is gone shows nothing; the page itself must answer.
                Err(error) if frame.parent.is_none() => return Err(error),
                Err(error @ BrowserError::InvalidSelector { .. }) => return Err(error),
                Err(_) => continue,
            };
            for (all, holds) in all.iter_mut().zip(holds) {
                *all |= holds;
            }
        }
        let unseen = selectors.iter().zip(all).find(|(_, visible)| *visible == gone);
        Ok(unseen.map(|(selector, _)| selector))
    }

    async fn look_for(
        &self,
        frame: &Frame,
        selectors: &[Selector],
        gone: bool,
        slice: Duration,
    ) -> Result<Vec<bool>, BrowserError> {
        let written: Vec<Value> = selectors.iter().map(written).collect();
        let argument = json!({ "selectors": written, "gone": gone, "ms": millis(slice) });
        let deadline = self.deadline + GRACE;
        match self.page.run::<Seen>(frame, "seen", argument, deadline).await? {
            Outcome::Value(Seen { state, why, .. }) if state == "unreadable" => {
                let selector = selectors.first().map(Selector::to_string).unwrap_or_default();
                Err(BrowserError::InvalidSelector { selector, why })
            }
            Outcome::Value(seen) => Ok(seen.holds),
            Outcome::Left => {
                self.page.news(Instant::now() + slice.min(Duration::from_millis(50))).await;
                Ok(Vec::new())
            }
        }
    }

    /// The same for a ref.
    async fn ref_unseen<'a>(
        &self,
        selectors: &'a [Selector],
        gone: bool,
        slice: Duration,
    ) -> Result<Option<&'a Selector>, BrowserError> {
        let Some((selector, others)) = selectors.split_first() else { return Ok(None) };
        let (want, doing) = (Want::Visible, "nothing");
        let ask = Ask { selector, want, doing, arguments: json!({}) };
        let visible = match self.find_now(&ask).await {
            Ok(()) => true,
            Err(
                BrowserError::StaleRef(_)
                | BrowserError::NotActionable { .. }
                | BrowserError::ElementNotFound { .. },
            ) => false,
            Err(error) => return Err(error),
        };
        if visible == gone {
            self.page.news(Instant::now() + slice).await;
            return Ok(Some(selector));
        }
        if others.is_empty() {
            return Ok(None);
        }
        Box::pin(self.unseen(others, gone, slice)).await
    }

    async fn missed(&self, wait: &WaitFor, lacks: &Unmet<'_>) -> BrowserError {
        match lacks {
            Unmet::Element(selector) if !wait.gone => self.not_found(selector).await,
            Unmet::Element(selector) => {
                BrowserError::Timeout(format!("{selector} is still visible"))
            }
            Unmet::Url => BrowserError::Timeout(format!(
                "the address does not contain {:?}: it is {}",
                wait.url.as_deref().unwrap_or_default(),
                self.page.main().map(|frame| frame.url).unwrap_or_default(),
            )),
            Unmet::Quiet => BrowserError::Timeout(format!(
                "the network did not become idle in time: {} requests are in progress",
                self.page.with(|state| state.network.count()),
            )),
        }
    }
}
