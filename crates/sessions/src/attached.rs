//! Attached sessions: a user's own display or browser. A program outside runs the guest and
//! connects to the server. There is no sandbox; the link uses connections that the program keeps
//! open.

mod allowance;

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use helmdeck_runtime::{ByteStream, Runtime, RuntimeError, Sandbox, SandboxId, SandboxSpec};
use helmdeck_wire::{
    SessionId,
    attach::Attached,
    session::{EndReason, Mode, SessionSpec},
};
use parking_lot::Mutex;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::{
    io::{DuplexStream, duplex},
    sync::{Notify, oneshot, watch},
    time::timeout_at,
};

use crate::{Session, SessionError, events::EventKind, lifecycle::Phase, session::Driven};
use allowance::Allowance;

/// A connected program offers a connection within one round trip.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
/// Maximum number of spare connections.
const MAX_SPARE: usize = 16;
/// Buffer between the link and one connection.
const BUFFER: usize = 64 << 10;

/// A request to attach a session, or to resume one.
#[derive(Debug, Clone)]
pub struct ToAttach {
    /// A name for people.
    pub label: String,
    /// What is attached.
    pub attached: Attached,
    /// Id and creation time of a session to resume.
    pub back: Option<(SessionId, OffsetDateTime)>,
}

impl ToAttach {
    /// The spec, without fields that do not apply. Fails if the request is invalid.
    pub(crate) fn spec(&self) -> Result<SessionSpec, SessionError> {
        let invalid =
            |field, reason: &str| SessionError::InvalidSpec { field, reason: reason.into() };
        let plain = |text: &str, most: usize, more: &str| {
            let good = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
            (1..=most).contains(&text.len()) && text.chars().all(good)
        };
        let Attached { display, cdp, live_view: _ } = &self.attached;
        if display.as_ref().is_some_and(|name| !plain(name, 100, ":.-_/")) {
            return Err(invalid("display", "expected the name of a display, such as :0"));
        }
        if cdp.as_ref().is_some_and(|place| !plain(place, 255, ":.-_[]")) {
            return Err(invalid("cdp", "expected host:port"));
        }
        let mode = match (display, cdp) {
            (Some(_), _) => Mode::Desktop,
            (None, Some(_)) => Mode::Headless,
            (None, None) => return Err(invalid("attached", "expected a display or a browser")),
        };
        Ok(SessionSpec {
            label: self.label.clone(),
            mode: Some(mode),
            idle_timeout_s: Some(0),
            ..SessionSpec::default()
        })
    }
}

/// A cheap handle to the connection with the program.
#[derive(Clone)]
pub struct Attachment {
    shared: Arc<Shared>,
}

struct Shared {
    sandbox: SandboxId,
    /// Connections that are available, oldest first.
    offers: Mutex<VecDeque<oneshot::Sender<DuplexStream>>>,
    offered: Notify,
    /// Whether a program is connected as the owner of this attachment.
    brought: AtomicBool,
    /// How much the guest may still report.
    allowance: Mutex<Allowance>,
    /// Set while the program is disconnected.
    away: Mutex<Option<Disconnected>>,
    over: watch::Sender<bool>,
}

/// A program that is disconnected.
#[derive(Debug, Clone, Copy)]
struct Disconnected {
    since: OffsetDateTime,
    /// When the session ends if the program does not return.
    until: Instant,
}

impl Disconnected {
    fn sentence(self, now: Instant) -> String {
        let since = self.since.replace_nanosecond(0).unwrap_or(self.since);
        let since = since.format(&Rfc3339).unwrap_or_default();
        let left = self.until.saturating_duration_since(now);
        let seconds = left.as_secs_f64().ceil();
        format!(
            "the program that attached it is not connected since {since}; it has {seconds} s left \
             to come back"
        )
    }
}

/// The exclusive right to serve a session. Dropping it releases the right.
pub struct AttachClaim(Attachment);

impl Drop for AttachClaim {
    fn drop(&mut self) {
        self.0.shared.brought.store(false, Ordering::Release);
    }
}

impl Attachment {
    pub(crate) fn new(sandbox: SandboxId) -> Self {
        let (offers, offered, over) = (Mutex::default(), Notify::new(), watch::Sender::new(false));
        let brought = AtomicBool::new(false);
        let allowance = Mutex::new(Allowance::new(Instant::now()));
        let away = Mutex::default();
        let shared = Shared { sandbox, offers, offered, brought, allowance, away, over };
        Self { shared: Arc::new(shared) }
    }

    /// Claims the attachment. `None` if another program has it.
    pub(crate) fn bring(&self) -> Option<AttachClaim> {
        let first = !self.shared.brought.swap(true, Ordering::AcqRel);
        first.then(|| AttachClaim(self.clone()))
    }

    /// Whether the guest may send another report of this size.
    pub(crate) fn may_report(&self, bytes: usize) -> bool {
        self.shared.allowance.lock().report(bytes, Instant::now())
    }

    /// Whether the guest may connect, or reconnect.
    pub(crate) fn may_come(&self) -> bool {
        self.shared.allowance.lock().come(Instant::now())
    }

    /// The guest is gone; the session waits for it until then.
    pub(crate) fn wait_until(&self, until: Instant) {
        let since = OffsetDateTime::now_utc();
        *self.shared.away.lock() = Some(Disconnected { since, until });
    }

    /// The guest is connected.
    pub(crate) fn wait_no_more(&self) {
        *self.shared.away.lock() = None;
    }

    /// Whether the guest has exceeded its report allowance.
    pub(crate) fn reported_too_much(&self) -> bool {
        self.shared.allowance.lock().is_spent()
    }

    /// Offers a connection, and resolves to the link's end when it is used. `None` if it never will
    /// be. Dropping the future withdraws the offer.
    pub fn offer(&self) -> impl Future<Output = Option<DuplexStream>> + Send + use<> {
        let (give, given) = oneshot::channel();
        {
            let mut offers = self.shared.offers.lock();
            offers.retain(|offer| !offer.is_closed());
            if offers.len() < MAX_SPARE {
                offers.push_back(give);
            }
        }
        self.shared.offered.notify_one();
        let mut over = self.shared.over.subscribe();
        async move {
            tokio::select! {
                taken = given => taken.ok(),
                _ = over.wait_for(|over| *over) => None,
            }
        }
    }

    /// A description like that of a runtime's sandbox.
    pub(crate) fn sandbox(&self) -> Sandbox {
        Sandbox {
            id: self.shared.sandbox.clone(),
            running: !*self.shared.over.borrow(),
            labels: Default::default(),
            limits_by: "none",
            usage: None,
        }
    }

    fn next(&self) -> Option<oneshot::Sender<DuplexStream>> {
        self.shared.offers.lock().pop_front()
    }
}

#[async_trait]
impl Runtime for Attachment {
    /// Attached sessions have no sandbox to start.
    async fn start(&self, _: &SandboxId, _: &SandboxSpec) -> Result<(), RuntimeError> {
        Ok(())
    }

    async fn connect(&self, _: &SandboxId) -> Result<Box<dyn ByteStream>, RuntimeError> {
        let gone =
            || RuntimeError::Gone("the program that attached the session does not answer".into());
        let deadline = tokio::time::Instant::now() + CONNECT_DEADLINE;
        loop {
            if *self.shared.over.borrow() {
                return Err(RuntimeError::Gone("the session was detached".into()));
            }
            while let Some(offer) = self.next() {
                let (ours, theirs) = duplex(BUFFER);
                // Skip offers that were withdrawn.
                if offer.send(theirs).is_ok() {
                    return Ok(Box::new(ours));
                }
            }
            timeout_at(deadline, self.shared.offered.notified()).await.map_err(|_| gone())?;
        }
    }

    async fn stop(&self, _: &SandboxId) -> Result<(), RuntimeError> {
        self.shared.over.send_replace(true);
        self.shared.offers.lock().clear();
        Ok(())
    }

    async fn list(&self) -> Result<Vec<Sandbox>, RuntimeError> {
        Ok(vec![self.sandbox()])
    }
}

impl Session {
    /// The connection with the program, if the session is attached.
    pub fn attachment(&self) -> Option<&Attachment> {
        self.inner.attachment.as_ref()
    }

    /// When the session was created.
    pub fn created_at(&self) -> OffsetDateTime {
        self.inner.record.created_at
    }

    /// Waits until the session is ready. Fails if it never will be.
    pub async fn ready(&self) -> Result<(), SessionError> {
        self.driven_to(Driven::Running).await;
        self.ensure_alive()
    }

    /// A remark while the program is disconnected: since when, and how long the session waits.
    pub(crate) fn away(&self) -> Option<String> {
        let away = *self.attachment()?.shared.away.lock();
        let runs = *self.inner.life.lock().phase() == Phase::Running;
        away.filter(|_| runs).map(|away| away.sentence(self.inner.clock.now()))
    }

    /// Announces that the program is gone, and until when the session waits for it.
    pub(crate) fn lost_its_guest(&self, attachment: &Attachment, until: Instant) {
        attachment.wait_until(until);
        self.tell(EventKind::Changed);
    }

    /// Ends the session soon, at the program's request.
    pub fn detach(&self) {
        self.request_end(EndReason::Requested);
    }
}

/// Remarks about missing features of an attached session.
pub(crate) fn notes(attached: &Attached) -> Vec<String> {
    let mut notes = vec![
        "attached: programs, files and network belong to another machine; no limits, no network \
         policy, no profile"
            .to_owned(),
    ];
    if attached.display.is_some() && !attached.live_view {
        notes.push(
            "no live view: TigerVNC's X0tigervnc (Debian: tigervnc-scraping-server) is missing where \
             the display is; screenshots and actions work"
                .to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    fn attachment() -> (Attachment, SandboxId) {
        let id = SandboxId::new("sess-x").unwrap();
        (Attachment::new(id.clone()), id)
    }

    #[tokio::test]
    async fn an_offered_connection_is_used_and_a_withdrawn_one_is_not() {
        let (attachment, id) = attachment();
        drop(attachment.offer());
        let offer = attachment.offer();
        let mut ours = attachment.connect(&id).await.unwrap();
        ours.write_all(b"hello").await.unwrap();
        let mut theirs = offer.await.unwrap();
        let mut heard = [0; 5];
        theirs.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"hello");
    }

    #[tokio::test]
    async fn connecting_waits_for_an_offer() {
        let (attachment, id) = attachment();
        let waiting = helmdeck_task::spawn({
            let (attachment, id) = (attachment.clone(), id.clone());
            async move { attachment.connect(&id).await.is_ok() }
        });
        tokio::task::yield_now().await;
        let _offer = attachment.offer();
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn an_ended_session_refuses_offers_and_connections() {
        let (attachment, id) = attachment();
        let offer = attachment.offer();
        attachment.stop(&id).await.unwrap();
        assert!(offer.await.is_none());
        assert!(attachment.connect(&id).await.is_err());
        assert!(!attachment.sandbox().running);
    }

    #[tokio::test]
    async fn only_one_program_at_a_time_can_bring_a_session() {
        let (attachment, _) = attachment();
        let first = attachment.bring();
        assert!(first.is_some() && attachment.bring().is_none());
        drop(first);
        assert!(attachment.bring().is_some());
    }

    #[test]
    fn the_time_left_for_a_program_to_return_counts_down() {
        let since = OffsetDateTime::UNIX_EPOCH + Duration::from_millis(1500);
        let gone = Instant::now();
        let away = Disconnected { since, until: gone + Duration::from_secs(30) };
        let expected = "the program that attached it is not connected since \
                        1970-01-01T00:00:01Z; it has 21 s left to come back";
        assert_eq!(away.sentence(gone + Duration::from_millis(9500)), expected);
    }

    #[test]
    fn an_invalid_display_or_browser_is_refused() {
        let brought = |display: Option<&str>, cdp: Option<&str>| {
            let (display, cdp) = (display.map(Into::into), cdp.map(Into::into));
            let attached = Attached { display, cdp, live_view: true };
            ToAttach { label: String::new(), attached, back: None }.spec()
        };
        assert_eq!(brought(Some(":0"), None).unwrap().mode, Some(Mode::Desktop));
        assert_eq!(brought(None, Some("[::1]:9222")).unwrap().mode, Some(Mode::Headless));
        assert!(brought(None, None).is_err());
        assert!(brought(Some(":0\n"), None).is_err());
        assert!(brought(None, Some("ws://h:1/devtools/browser/secret")).is_err());
    }
}
