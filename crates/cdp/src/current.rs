//! The connection to the browser of the moment: the session's own, which may be started again, or one
//! that somebody else has started since.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::{select, sync::watch, time::timeout};

use crate::{Cdp, CdpError};

/// Where the connection to the browser of the moment is found.
///
/// A small stack: the session's own browser is at the bottom, and whoever was started since is above.
/// The newest one that lives is the browser of the moment.
pub struct Current {
    stack: watch::Sender<Stack>,
}

/// Why there is no browser of the session's own for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absence {
    /// How the last one ended.
    pub how: String,
    /// When the next one is tried.
    pub next: Instant,
}

#[derive(Default)]
struct Stack {
    own: Option<Cdp>,
    /// While it is known that there is none before some time.
    absence: Option<Absence>,
    /// Oldest first.
    others: Vec<Cdp>,
    /// The label of the person who drives, while one does.
    driver: Option<String>,
}

impl Stack {
    fn newest(&self) -> Option<&Cdp> {
        self.others.iter().rev().chain(&self.own).find(|cdp| !cdp.is_closed())
    }

    fn own(&self) -> Option<&Cdp> {
        self.own.as_ref().filter(|cdp| !cdp.is_closed())
    }

    fn absent_until(&self, until: Instant) -> bool {
        self.absence.as_ref().is_some_and(|absence| absence.next > until)
    }
}

impl Current {
    /// No browser yet.
    pub fn new() -> Self {
        Self { stack: watch::Sender::default() }
    }

    /// There is a new browser of the session's own; the one before is let go.
    pub fn set(&self, cdp: Cdp) {
        self.stack.send_modify(|stack| {
            // It has no clients yet: there is nothing to wait for.
            drop(cdp.hand_over(stack.driver.as_deref()));
            (stack.own, stack.absence) = (Some(cdp), None);
        });
    }

    /// There is no browser of the session's own, until the next is set.
    pub fn clear(&self) {
        self.stack.send_modify(|stack| (stack.own, stack.absence) = (None, None));
    }

    /// There is no browser of the session's own, and none before some time: whoever has less time is
    /// told at once.
    pub fn pause(&self, absence: Absence) {
        self.stack.send_modify(|stack| (stack.own, stack.absence) = (None, Some(absence)));
    }

    /// Why there is no browser of the session's own, if it is known when the next is tried.
    pub fn absence(&self) -> Option<Absence> {
        self.stack.borrow().absence.clone()
    }

    /// There is another browser, which is that of the moment until it is gone or a newer one comes.
    pub fn add(&self, cdp: Cdp) {
        self.stack.send_modify(|stack| {
            drop(cdp.hand_over(stack.driver.as_deref()));
            stack.others.retain(|other| !other.is_closed());
            stack.others.push(cdp);
        });
    }

    /// Control changed hands; see [`Cdp::hand_over`]. Browsers that are started later learn it, too.
    pub async fn hand_over(&self, driver: Option<&str>) {
        let mut settling = Vec::new();
        self.stack.send_modify(|stack| {
            stack.driver = driver.map(str::to_owned);
            let all = stack.others.iter().chain(&stack.own);
            settling.extend(all.map(|cdp| cdp.hand_over(driver)));
        });
        join_all(settling).await;
    }

    /// One that was added is gone.
    pub fn remove(&self, cdp: &Cdp) {
        self.stack.send_modify(|stack| stack.others.retain(|other| !other.is(cdp)));
    }

    /// The connection to a browser that is there, waiting for one if need be.
    pub async fn get(&self, deadline: Duration) -> Result<Cdp, CdpError> {
        self.find(deadline, Stack::newest).await
    }

    /// The same for the session's own browser, whoever else is there.
    pub async fn own(&self, deadline: Duration) -> Result<Cdp, CdpError> {
        self.find(deadline, Stack::own).await
    }

    /// Whether this is the browser of the moment.
    pub fn is(&self, cdp: &Cdp) -> bool {
        self.stack.borrow().newest().is_some_and(|newest| newest.is(cdp))
    }

    /// Whether this is the session's own browser.
    pub fn is_own(&self, cdp: &Cdp) -> bool {
        self.stack.borrow().own.as_ref().is_some_and(|own| own.is(cdp))
    }

    /// Waits until this is not the browser of the moment any more: it is gone, or a newer one is
    /// there.
    pub async fn changed(&self, cdp: &Cdp) {
        let mut watched = self.stack.subscribe();
        let other = |stack: &Stack| !stack.newest().is_some_and(|newest| newest.is(cdp));
        select! {
            // Fails only without us.
            _ = watched.wait_for(other) => {}
            () = cdp.closed() => {}
        }
    }

    async fn find(
        &self,
        deadline: Duration,
        which: impl Fn(&Stack) -> Option<&Cdp>,
    ) -> Result<Cdp, CdpError> {
        let mut watched = self.stack.subscribe();
        let until = Instant::now() + deadline;
        let settled = |stack: &Stack| which(stack).is_some() || stack.absent_until(until);
        let found = timeout(deadline, watched.wait_for(settled)).await;
        let stack = found.ok().and_then(Result::ok).ok_or(CdpError::BrowserGone)?;
        which(&stack).cloned().ok_or(CdpError::BrowserGone)
    }
}

impl Default for Current {
    fn default() -> Self {
        Self::new()
    }
}
