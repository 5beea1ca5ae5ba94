//! The guest of an attached display or browser, outside any sandbox. It starts neither, and leaves
//! both as they were.

use std::{io, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use axum::body::Body;
use helmdeck_cdp::{Cdp, Current};
use helmdeck_display::{Display, DisplayError};
use helmdeck_task::{BoxFuture, boxed};
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    error::with_causes,
    guest::{Part, Progress, Stage},
};
use http::{Request, Uri, uri::PathAndQuery};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::DuplexStream,
    net::lookup_host,
    task::JoinSet,
    time::{sleep, timeout},
};
use tower::ServiceExt;

use crate::{
    act::no_screen, begin::Guest, error::GuestError, log::Log, observe, private_dir::PrivateDir,
    reports::Reports, rfb::Passwords, router, scraper, supervise,
};

/// A running browser answers at once.
const BROWSER_DEADLINE: Duration = Duration::from_secs(10);
/// Pause between attempts to reach a browser that disconnected.
const BROWSER_PAUSE: Duration = Duration::from_secs(1);
/// How often to check that the display still exists.
const DISPLAY_PAUSE: Duration = Duration::from_secs(2);
/// Releasing keys is local work.
const RELEASE_DEADLINE: Duration = Duration::from_secs(2);

/// The attached display and browser. A cheap handle.
#[derive(Clone)]
pub struct Attached {
    /// The screen, if one was attached.
    pub display: Option<Display>,
    passwords: Option<Passwords>,
    browser: Option<Reached>,
}

/// An attached browser.
#[derive(Clone)]
pub struct Reached {
    /// Its debugging protocol.
    pub current: Arc<Current>,
    /// The structured browser.
    pub structured: helmdeck_browser::Browser,
}

impl Attached {
    /// The passwords of the screen's RFB server.
    pub fn passwords(&self) -> Result<Passwords, GuestError> {
        if self.display.is_none() {
            return Err(no_screen());
        }
        let missing =
            || GuestError::Refused(ErrorBody::new(ErrorCode::Unavailable, scraper::MISSING));
        self.passwords.clone().ok_or_else(missing)
    }

    /// The browser.
    pub fn browser(&self) -> Result<Reached, GuestError> {
        let message =
            "no browser was attached to this session: `helmdeck attach --cdp` attaches one";
        let missing = || GuestError::Refused(ErrorBody::new(ErrorCode::CdpUnavailable, message));
        self.browser.clone().ok_or_else(missing)
    }
}

/// The refusal of an operation that attached sessions do not support.
pub fn refusal() -> GuestError {
    let message = "this session was attached by `helmdeck attach`; its programs, files and screen \
                   size are not managed by helmdeck";
    GuestError::Refused(ErrorBody::new(ErrorCode::SessionAttached, message))
}

/// The guest of an attached session. Dropping it disconnects from everything.
pub struct Attachment {
    guest: Guest,
    /// Whether the display can be watched.
    pub live_view: bool,
    _tasks: JoinSet<()>,
    /// Dropped after the tasks, which use it.
    _place: PrivateDir,
}

impl Attachment {
    /// Connects to the X display and the browser, as far as they are given.
    pub fn start<'a>(
        display: Option<&'a str>,
        cdp: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Self, GuestError>> {
        Box::pin(async move {
            let place = PrivateDir::make().map_err(|e| GuestError::Io("private directory", e))?;
            let (log, mut tasks) = (Log::default(), JoinSet::new());
            let mut attached = Attached { display: None, passwords: None, browser: None };
            let mut kept = None;
            if let Some(name) = display {
                let reached = Display::connect(name).map_err(|error| no_display(name, error));
                attached.display = Some(reached?);
                attached.passwords = watchable(name, place.path(), &log, &mut tasks).await?;
            }
            if let Some(address) = cdp {
                let address = Address::parse(address)?;
                let first = address.connect().await?;
                let current = Arc::new(Current::new());
                current.set(first.clone());
                let structured = helmdeck_browser::Browser::attached(current.clone());
                attached.browser = Some(Reached { current: current.clone(), structured });
                kept = Some((address, first, current));
            }
            let live_view = attached.passwords.is_some();
            let watched = attached.display.clone();
            let (has_display, has_browser) = (display.is_some(), cdp.is_some());
            let guest = Guest::of(attached, log);
            for (there, stage) in [(has_display, Stage::Display), (has_browser, Stage::Browser)] {
                if there {
                    guest.reports.tell(Progress::Done(stage));
                }
            }
            guest.reports.tell(Progress::Ready);
            if let Ok(browser) = guest.browser() {
                let trace = guest.trace.clone();
                browser.listen(Arc::new(move |event| trace.page(event)));
            }
            if let Some((address, first, current)) = kept {
                let (reports, log) = (guest.reports.clone(), guest.log.clone());
                tasks.spawn(boxed(keep_browser(address, first, current, reports, log)));
            }
            if let Some(display) = watched {
                tasks.spawn(boxed(observe::follow_windows(display.clone(), guest.trace.clone())));
                tasks.spawn(boxed(watch_display(
                    display,
                    guest.reports.clone(),
                    guest.log.clone(),
                )));
            }
            Ok(Self { guest, live_view, _tasks: tasks, _place: place })
        })
    }

    /// A handle that serves connections of the link.
    pub fn connections(&self) -> Connections {
        Connections { guest: self.guest.clone() }
    }

    /// Releases every key and button that actions hold.
    pub fn release_all(&self) -> BoxFuture<'static, ()> {
        let guest = self.guest.clone();
        Box::pin(async move {
            if let Ok(display) = guest.display() {
                let _ = timeout(RELEASE_DEADLINE, display.release_all()).await;
            }
        })
    }
}

/// Serves the link. A cheap handle.
#[derive(Clone)]
pub struct Connections {
    guest: Guest,
}

impl Connections {
    /// Serves one connection until it ends or is upgraded.
    pub fn serve(self, stream: DuplexStream) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let router = router::router(self.guest);
            let answer = service_fn(move |request: Request<Incoming>| {
                router.clone().oneshot(request.map(Body::new))
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
            // Disconnects of the server are normal.
            let _ = connection.with_upgrades().await;
        })
    }
}

/// The error for a display that cannot be attached.
fn no_display(name: &str, error: DisplayError) -> GuestError {
    let DisplayError::Lost(why) = error else { return error.into() };
    // The library's message covers servers that answered, and invalid names.
    let said = match why.kind() {
        io::ErrorKind::Other => format!("the display {name} cannot be used: {why}"),
        _ => format!(
            "there is no X server at {name}: {why}; `echo $DISPLAY` in a terminal on the display \
             tells its name"
        ),
    };
    GuestError::Refused(ErrorBody::new(ErrorCode::DisplayLost, said))
}

/// Starts a live view of the display, if this machine has the required program.
async fn watchable(
    display: &str,
    place: &Path,
    log: &Log,
    tasks: &mut JoinSet<()>,
) -> Result<Option<Passwords>, GuestError> {
    let passwords = Passwords::generate(place)?;
    match scraper::start(display, &passwords, log).await {
        Ok(Some(keep)) => {
            tasks.spawn(boxed(keep));
            Ok(Some(passwords))
        }
        Ok(None) => {
            log.line("guest", scraper::MISSING);
            Ok(None)
        }
        // The session works without a live view.
        Err(error) => {
            log.line("guest", &format!("there is no live view: {}", with_causes(&error)));
            Ok(None)
        }
    }
}

/// Reports when the display is gone.
async fn watch_display(display: Display, reports: Reports, log: Log) {
    loop {
        sleep(DISPLAY_PAUSE).await;
        if let Err(error) = display.size().await {
            log.line("guest", &with_causes(&error));
            supervise::tell_lost(Part::Display, &reports, &log);
            return;
        }
    }
}

/// Reconnects to the browser after it disconnected.
async fn keep_browser(
    address: Address,
    mut cdp: Cdp,
    current: Arc<Current>,
    reports: Reports,
    log: Log,
) {
    loop {
        cdp.closed().await;
        current.clear();
        log.line("guest", "the browser disconnected; waiting for it to return");
        reports.tell(Progress::BrowserEnded("it closed the connection".to_owned()));
        cdp = loop {
            sleep(BROWSER_PAUSE).await;
            if let Ok(cdp) = address.connect().await {
                break cdp;
            }
        };
        current.set(cdp.clone());
        log.line("guest", "the browser is back");
        reports.tell(Progress::BrowserBack);
    }
}

/// The debugging address of a browser.
struct Address(Uri);

impl Address {
    fn parse(text: &str) -> Result<Self, GuestError> {
        let wrong = |why: &str| {
            let message = format!("--cdp: {why}: expected http://host:port or ws://host:port/path");
            GuestError::Refused(ErrorBody::new(ErrorCode::InvalidInput, message))
        };
        let uri: Uri = text.parse().map_err(|_| wrong("this is not an address"))?;
        match (uri.scheme_str(), uri.authority()) {
            (Some("http" | "ws"), Some(authority)) if !authority.as_str().contains('@') => {}
            _ => return Err(wrong("this is not the address of a browser")),
        }
        if uri.path().starts_with("/devtools/page/") {
            return Err(wrong("this is the address of a page, not of the browser"));
        }
        Ok(Self(uri))
    }

    /// Connects by IP address: browsers refuse host names, to prevent DNS rebinding.
    async fn connect(&self) -> Result<Cdp, GuestError> {
        let port = self.0.port_u16().unwrap_or(80);
        let host = self.0.host().unwrap_or_default().trim_matches(['[', ']']);
        let found = timeout(BROWSER_DEADLINE, lookup_host((host, port))).await;
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        let found = found.map_err(late).flatten().map_err(|e| GuestError::Io("browser", e))?;
        let found: Vec<SocketAddr> = found.collect();
        let scheme = self.0.scheme_str().unwrap_or("http");
        let path = self.0.path_and_query().map_or("/", PathAndQuery::as_str);
        let mut why = "its host has no address".to_owned();
        for address in found {
            match Cdp::connect(&format!("{scheme}://{address}{path}"), BROWSER_DEADLINE).await {
                Ok(cdp) => return Ok(cdp),
                Err(error) => why = with_causes(&error),
            }
        }
        let message = format!("the browser at {host}:{port} cannot be reached: {why}");
        Err(GuestError::Refused(ErrorBody::new(ErrorCode::CdpUnavailable, message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_given_by_port_or_address() {
        for good in ["http://127.0.0.1:9222", "ws://[::1]:1/devtools/browser/x", "http://desk"] {
            assert!(Address::parse(good).is_ok(), "{good}");
        }
        let page = "ws://127.0.0.1:9222/devtools/page/1";
        for bad in ["", "9222", "https://a", "http://u:p@a:1", "/x", page] {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }
}
