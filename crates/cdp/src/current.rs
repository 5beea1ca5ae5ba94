//! The connection to the current browser: the session's own, which may be restarted, or another
//! that was started since.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::{select, sync::watch, time::timeout};

use crate::{Cdp, CdpError};

/// Holds the connections to the session's browsers.
///
/// The session's own browser is at the bottom of a small stack; browsers started since are above
/// it.
/// The newest one that is alive is the current browser.
pub struct Current {
    stack: watch::Sender<Stack>,
}

/// Why the session's own browser is absent for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restarting {
    /// How the last one ended.
    pub how: String,
    /// When the next start is attempted.
    pub next: Instant,
}

#[derive(Default)]
struct Stack {
    own: Option<Cdp>,
    /// Set while the time of the next start is known.
    absence: Option<Restarting>,
    /// Oldest first.
    others: Vec<Cdp>,
    /// The label of the person in control, if any.
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
    /// Starts without a browser.
    pub fn new() -> Self {
        Self { stack: watch::Sender::default() }
    }

    /// Sets the session's own browser and drops the previous one.
    pub fn set(&self, cdp: Cdp) {
        self.stack.send_modify(|stack| {
            // It has no clients yet, so there is nothing to wait for.
            drop(cdp.hand_over(stack.driver.as_deref()));
            (stack.own, stack.absence) = (Some(cdp), None);
        });
    }

    /// Removes the session's own browser until the next is set.
    pub fn clear(&self) {
        self.stack.send_modify(|stack| (stack.own, stack.absence) = (None, None));
    }

    /// Removes the session's own browser until a known time. Calls with an earlier deadline fail at
    /// once.
    pub fn pause(&self, absence: Restarting) {
        self.stack.send_modify(|stack| (stack.own, stack.absence) = (None, Some(absence)));
    }

    /// Why the session's own browser is absent, if the time of the next start is known.
    pub fn absence(&self) -> Option<Restarting> {
        self.stack.borrow().absence.clone()
    }

    /// Adds a browser. It is the current one until it ends or a newer one is added.
    pub fn add(&self, cdp: Cdp) {
        self.stack.send_modify(|stack| {
            drop(cdp.hand_over(stack.driver.as_deref()));
            stack.others.retain(|other| !other.is_closed());
            stack.others.push(cdp);
        });
    }

    /// Control changed; see [`Cdp::hand_over`]. Also applies to browsers started later.
    pub async fn hand_over(&self, driver: Option<&str>) {
        let mut settling = Vec::new();
        self.stack.send_modify(|stack| {
            stack.driver = driver.map(str::to_owned);
            let all = stack.others.iter().chain(&stack.own);
            settling.extend(all.map(|cdp| cdp.hand_over(driver)));
        });
        join_all(settling).await;
    }

    /// Removes a browser that was added.
    pub fn remove(&self, cdp: &Cdp) {
        self.stack.send_modify(|stack| stack.others.retain(|other| !other.is(cdp)));
    }

    /// The connection to the current browser. Waits until there is one.
    pub async fn get(&self, deadline: Duration) -> Result<Cdp, CdpError> {
        self.find(deadline, Stack::newest).await
    }

    /// The connection to the session's own browser, even if another is current.
    pub async fn own(&self, deadline: Duration) -> Result<Cdp, CdpError> {
        self.find(deadline, Stack::own).await
    }

    /// Whether this is the current browser.
    pub fn is(&self, cdp: &Cdp) -> bool {
        self.stack.borrow().newest().is_some_and(|newest| newest.is(cdp))
    }

    /// Whether this is the session's own browser.
    pub fn is_own(&self, cdp: &Cdp) -> bool {
        self.stack.borrow().own.as_ref().is_some_and(|own| own.is(cdp))
    }

    /// Waits until this is no longer the current browser: it ended, or a newer one was added.
    pub async fn changed(&self, cdp: &Cdp) {
        let mut watched = self.stack.subscribe();
        let other = |stack: &Stack| !stack.newest().is_some_and(|newest| newest.is(cdp));
        select! {
            // Fails only if `self` is gone.
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
