//! Private sign-in: a private browser for one person. It has no window on the session's screen, no
//! extension, and no connection that agents or debugging clients can reach.

use std::{sync::Arc, time::Duration};

use helmdeck_browser::{Browser, SignIn};
use helmdeck_cdp::{Cdp, Current};
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    browser::{Emulation, TabId},
    error::with_causes,
    guest::{Begin, EndPrivate, Progress, StartPrivate},
    private::PrivateEnded,
    session::Mode,
};
use parking_lot::Mutex;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::time::timeout;

use crate::{
    begin::Guest,
    browser::{Launched, launch_private},
    error::GuestError,
    nest::Nest,
};

/// A browser ends at once when asked to; otherwise it is killed.
const END_DEADLINE: Duration = Duration::from_secs(5);
const ASK_DEADLINE: Duration = Duration::from_secs(10);

/// The state of private sign-in.
#[derive(Clone, Default)]
pub struct Private {
    /// The parameters of the session.
    begin: Arc<Mutex<Option<Begin>>>,
    /// Locked during a start or end, so that they do not overlap.
    open: Arc<tokio::sync::Mutex<Option<Open>>>,
}

/// A running private browser.
struct Open {
    key: String,
    by: String,
    current: Arc<Current>,
    nest: Nest,
    browser: Browser,
    /// The agent's tab.
    tab: TabId,
}

impl Private {
    /// Stores the parameters with which browsers of this session are started.
    pub fn prepare(&self, begin: &Begin) {
        *self.begin.lock() = Some(begin.clone());
    }
}

impl Guest {
    /// Starts a private browser at the agent's current page.
    pub async fn start_private(&self, wanted: StartPrivate) -> Result<(), GuestError> {
        let StartPrivate { key, by } = wanted;
        let session = self.session()?;
        let mut open = self.private.open.lock().await;
        match &*open {
            Some(open) if open.key == key => return Ok(()),
            Some(open) => return Err(taken(&open.by)),
            None => {}
        }
        let begin = self.private.begin.lock().clone().ok_or(GuestError::NotBegun)?;
        let carried = session.browser.carried().await?;
        let tab = carried.tab.clone();
        let current = Arc::new(Current::new());
        let begin = Begin { mode: Mode::Headless, extensions: Vec::new(), ..begin };
        let Launched { nest, process } = launch_private(&begin, &current, &self.log).await?;
        let cdp = current.own(Duration::ZERO).await.map_err(|_| GuestError::Ended("chromium"))?;
        let (timezone, locale) = (begin.timezone.clone(), begin.locale.clone());
        let own = Emulation { timezone, locale, ..Emulation::default() };
        let color_scheme = begin.color_scheme;
        let emulated = Emulation { color_scheme, ..Emulation::default() };
        let browser = Browser::private_to(Arc::clone(&current), own, emulated);
        let arrived = async {
            browser.arrive(carried, None).await?;
            // Downloads are denied.
            let deny = json!({ "behavior": "deny" });
            let method = "Browser.setDownloadBehavior";
            let denied = cdp.call::<IgnoredAny>(None, method, deny, ASK_DEADLINE).await;
            denied.map_err(helmdeck_browser::BrowserError::from)
        };
        if let Err(error) = arrived.await {
            end_browser(&current, &nest).await;
            return Err(error.into());
        }
        let sign_in = SignIn { by: by.clone(), key: key.clone(), browser: browser.clone() };
        session.browser.set_private(Some(sign_in));
        *open = Some(Open { key, by, current, nest, browser, tab });
        let guest = self.clone();
        // Ends with the browser.
        helmdeck_task::spawn(async move {
            let _ = process.ended.await;
            guest.private_browser_ended(&cdp).await;
        });
        Ok(())
    }

    /// Ends a private sign-in. With `keep`, the agent's tab opens the person's page, signed in.
    pub async fn end_private(&self, wanted: EndPrivate) -> Result<PrivateEnded, GuestError> {
        let mut open = self.private.open.lock().await;
        let Some(ended) = open.take() else { return Ok(PrivateEnded::default()) };
        let session = self.session()?;
        let carried = if wanted.keep { Some(ended.browser.carried().await) } else { None };
        end_browser(&ended.current, &ended.nest).await;
        let url = carried.as_ref().and_then(|carried| Some(carried.as_ref().ok()?.url.clone()));
        let arrived = match carried {
            Some(Ok(carried)) => session.browser.arrive(carried, Some(&ended.tab)).await,
            Some(Err(error)) => Err(error),
            None => Ok(()),
        };
        session.browser.set_private(None);
        arrived?;
        Ok(PrivateEnded { url })
    }

    /// Control changed: ends private sign-ins of other people.
    pub async fn end_private_of_others(&self, key: Option<&str>) {
        let open = self.private.open.lock().await;
        let others = open.as_ref().is_some_and(|open| Some(open.key.as_str()) != key);
        drop(open);
        if others {
            let ended = self.end_private(EndPrivate { keep: false }).await;
            if let Err(error) = ended {
                self.log.line("guest", &with_causes(&error));
            }
            self.reports.tell(Progress::PrivateEnded);
        }
    }

    /// Handles the end of the browser; everything in it is lost.
    async fn private_browser_ended(&self, cdp: &Cdp) {
        let mut open = self.private.open.lock().await;
        let Some(ended) = open.take_if(|open| open.current.is_own(cdp)) else { return };
        ended.current.clear();
        ended.nest.end().await;
        if let Ok(session) = self.session() {
            session.browser.set_private(None);
        }
        self.reports.tell(Progress::PrivateEnded);
    }
}

/// Ends a private browser, which deletes all its data.
async fn end_browser(current: &Current, nest: &Nest) {
    if let Ok(cdp) = current.own(Duration::ZERO).await {
        let _ = cdp.call::<IgnoredAny>(None, "Browser.close", json!({}), END_DEADLINE).await;
        let _ = timeout(END_DEADLINE, cdp.closed()).await;
    }
    current.clear();
    nest.end().await;
}

fn taken(by: &str) -> GuestError {
    let message = format!("{by} is signing in privately in this session; wait until that ends");
    GuestError::Refused(ErrorBody::new(ErrorCode::Private, message))
}
