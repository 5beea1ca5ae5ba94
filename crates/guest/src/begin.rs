//! Starts a session in an empty sandbox, stage by stage.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use helmdeck_cdp::Current;
use helmdeck_display::Display;
use helmdeck_wire::{
    browser::Emulation,
    error::with_causes,
    guest::{Begin, Part, Progress, Stage},
    proxy::Proxy,
    session::Mode,
};
use parking_lot::Mutex;
use tokio::{process::Child, time::Instant};

use crate::{
    attached::{self, Attached},
    browser::{self, Browser},
    desktop,
    egress::Egress,
    elements::Elements,
    error::GuestError,
    exec::Execs,
    forwards::Forwards,
    freeze::Frozen,
    handover,
    log::Log,
    nest::{self, HOME, Nest},
    observe::{self, Observed, Trace},
    orphan_timeout::{self, Activity},
    owners::BrowserNest,
    panel::Panel,
    passthrough,
    private::Private,
    profile::StayClosed,
    reports::Reports,
    rfb::{self, Passwords},
    supervise,
    watchdog::{self, Measured},
    workspace, xvnc,
};

/// Enough for a cold start on a busy machine.
const PAINT_DEADLINE: Duration = Duration::from_secs(45);
/// A server begins a session milliseconds after it started the sandbox.
const BEGIN_DEADLINE: Duration = Duration::from_secs(600);
/// Lines of the log sent with a failure.
const TAIL_LINES: usize = 30;

/// A cheap handle to the guest's state.
#[derive(Clone, Default)]
pub struct Guest {
    pub log: Log,
    pub reports: Reports,
    pub activity: Activity,
    pub egress: Egress,
    pub forwards: Forwards,
    pub measured: Measured,
    pub stay_closed: StayClosed,
    pub panel: Panel,
    /// The cookies of the loaded profile, until the browser has them.
    pub cookies: Arc<Mutex<Option<serde_json::Value>>>,
    /// Kept for the next server; not used by the guest.
    pub proxy: Arc<Mutex<Option<Proxy>>>,
    pub private: Private,
    pub frozen: Frozen,
    pub execs: Execs,
    pub observed: Observed,
    pub trace: Trace,
    /// What is known about the elements on the screen.
    pub elements: Elements,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
enum State {
    #[default]
    Empty,
    Begun,
    Ready(Session),
    /// The display or browser is attached.
    Attached(Attached),
}

/// The parts of a running session.
#[derive(Clone)]
pub struct Session {
    /// The screen, if there is one.
    pub display: Option<Display>,
    /// The passwords of its RFB server.
    pub passwords: Option<Passwords>,
    /// The browser's debugging pipe.
    pub cdp: Arc<Current>,
    /// The structured browser.
    pub browser: helmdeck_browser::Browser,
    /// The sandbox in which programs are started.
    pub nest: Nest,
    /// The sandbox of the session's own browser.
    pub browser_nest: BrowserNest,
    /// Environment variables of the agent's programs.
    pub agent_env: Arc<BTreeMap<String, String>>,
}

/// The processes that a start leaves running.
struct Started {
    session: Session,
    xvnc: Option<Child>,
    browser: Browser,
}

impl Guest {
    /// The running session, once it is ready.
    pub fn session(&self) -> Result<Session, GuestError> {
        match &*self.state.lock() {
            State::Ready(session) => Ok(session.clone()),
            State::Attached(_) => Err(attached::refusal()),
            State::Empty | State::Begun => Err(GuestError::NotBegun),
        }
    }

    /// What is attached, if this is the guest of an attached session.
    pub fn attached(&self) -> Option<Attached> {
        match &*self.state.lock() {
            State::Attached(attached) => Some(attached.clone()),
            State::Empty | State::Begun | State::Ready(_) => None,
        }
    }

    /// A guest for an attached display or browser.
    pub fn of(attached: Attached, log: Log) -> Self {
        let guest = Self { log, ..Self::default() };
        *guest.state.lock() = State::Attached(attached);
        guest
    }

    /// Fails if a session has begun.
    pub fn ensure_empty(&self) -> Result<(), GuestError> {
        match &*self.state.lock() {
            State::Empty => Ok(()),
            State::Begun | State::Ready(_) | State::Attached(_) => Err(GuestError::BegunAlready),
        }
    }

    /// Ends the guest if no server begins a session; the server may have died.
    pub async fn end_unless_begun(self) {
        tokio::time::sleep(BEGIN_DEADLINE).await;
        if matches!(*self.state.lock(), State::Empty) {
            std::process::exit(0);
        }
    }

    /// Begins a session; the reports show its progress.
    pub fn begin(&self, mut begin: Begin) -> Result<(), GuestError> {
        begin.workspace_bytes = begin.workspace_bytes.filter(|_| workspace::is_on_disk());
        {
            let mut state = self.state.lock();
            if !matches!(*state, State::Empty) {
                return Err(GuestError::BegunAlready);
            }
            *state = State::Begun;
        }
        *self.proxy.lock() = begin.proxy.take();
        self.private.prepare(&begin);
        self.frozen.prepare(&begin);
        let (reports, activity) = (self.reports.clone(), self.activity.clone());
        let orphaned =
            orphan_timeout::must_end(begin.orphan_limits, reports, activity, self.log.clone());
        // The sandbox ends with the guest.
        helmdeck_task::spawn(async {
            orphaned.await;
            std::process::exit(0)
        });
        if let Some(limit) = begin.watch_memory_bytes {
            helmdeck_task::spawn(watchdog::watch(limit, self.measured.clone(), self.log.clone()));
        }
        helmdeck_task::spawn(self.clone().start(begin));
        Ok(())
    }

    async fn start(self, begin: Begin) {
        if let Err(error) = self.egress.listen().await {
            // The session works without network access.
            self.log.line("guest", &format!("there is no network access: {error}"));
        }
        let mut stage = Stage::Sandbox;
        let folders = nest::make_folders().and_then(|()| workspace::make_folders(&begin));
        let started = match (folders, begin.mode) {
            (Err(error), _) => Err(GuestError::Io("folders of the session", error)),
            (Ok(()), Mode::Desktop) => self.start_desktop(&begin, &mut stage).await,
            (Ok(()), Mode::Headless) => self.start_headless(&begin, &mut stage).await,
        };
        match started {
            Ok(started) => self.live(begin, started).await,
            Err(error) => {
                let reason = with_causes(&error);
                self.log.line("guest", &format!("stage {} failed: {reason}", stage.as_str()));
                let log_tail = self.log.tail(TAIL_LINES);
                self.reports.tell(Progress::Failed { stage, reason, log_tail });
            }
        }
    }

    /// Runs from ready until the guest ends.
    async fn live(self, begin: Begin, started: Started) {
        let Started { session, xvnc, browser } = started;
        let (reports, log, nest) = (self.reports.clone(), self.log.clone(), session.nest.clone());
        if let Err(error) = passthrough::listen(session.cdp.clone(), log.clone()) {
            log.line("guest", &format!("browsers started by the agent are not followed: {error}"));
        }
        helmdeck_task::spawn(handover::tidy());
        helmdeck_task::spawn(self.execs.clone().forget_old());
        if let Some(limit) = begin.workspace_bytes {
            helmdeck_task::spawn(workspace::watch(
                limit,
                nest.clone(),
                self.execs.clone(),
                log.clone(),
            ));
        }
        let (display, current) = (session.display.clone(), session.cdp.clone());
        let panel = display.is_some().then(|| self.panel.begin());
        let tabs = current.clone();
        let trace = self.trace.clone();
        session.browser.listen(Arc::new(move |event| trace.page(event)));
        *self.state.lock() = State::Ready(session);
        reports.tell(Progress::Ready);
        if let Some(xvnc) = xvnc {
            helmdeck_task::spawn(supervise::watch_display(xvnc, reports.clone(), log.clone()));
            if let Some(display) = display.clone() {
                let trace = self.trace.clone();
                helmdeck_task::spawn(observe::follow_windows(display.clone(), trace));
                helmdeck_task::spawn(desktop::follow_browser(display, current, reports.clone()));
            }
            desktop::start_extras(&nest, &log).await;
            if let Some((panel, display)) = panel.zip(display.clone()) {
                helmdeck_task::spawn(panel.watch(display));
            }
        }
        helmdeck_task::spawn(supervise::keep_a_tab(tabs, self.stay_closed.clone()));
        let parts = supervise::Parts { display, begin, stay_closed: self.stay_closed.clone() };
        supervise::keep_browser(browser, parts, reports, log).await;
    }

    async fn start_desktop(&self, begin: &Begin, stage: &mut Stage) -> Result<Started, GuestError> {
        self.reports.tell(Progress::Done(Stage::Sandbox));
        *stage = Stage::Display;
        let passwords = Passwords::generate(Path::new(rfb::PLACE))?;
        let xvnc = xvnc::start(begin.geometry, &passwords, &self.log).await?;
        let display = Display::connect(xvnc::DISPLAY)?;
        display.paint_root(desktop::BACKGROUND).await?;
        self.reports.tell(Progress::Done(Stage::Display));

        *stage = Stage::Desktop;
        let deadline = Instant::now() + PAINT_DEADLINE;
        desktop::write_settings().map_err(|e| GuestError::Io("desktop settings", e))?;
        let place = BrowserNest::default();
        display.identify_windows(place.owners());
        let desktop = async {
            let nest = self.start_nest(begin).await?;
            desktop::start_bus(&nest).await?;
            desktop::start_window_manager(&nest).await?;
            display.wait_for_window_manager(deadline).await?;
            self.reports.tell(Progress::Done(Stage::Desktop));
            Ok::<_, GuestError>(nest)
        };
        // Chromium starts meanwhile; its window appears once there is a window manager.
        let cookies = self.cookies.lock().take();
        let browser = Browser::start(begin, cookies, place.clone(), self.log.clone());
        let (nest, browser) = tokio::try_join!(desktop, browser)?;

        *stage = Stage::Browser;
        display.wait_until_painted(browser::WINDOW_CLASS, deadline).await?;
        browser.present(&display, true).await?;
        self.reports.tell(Progress::Done(Stage::Browser));
        let agent_env = Arc::new(begin.env.clone());
        let passwords = Some(passwords);
        let cdp = browser.current();
        let structured = structured(&cdp, begin).await;
        let session = Session {
            display: Some(display),
            passwords,
            cdp,
            browser: structured,
            nest,
            browser_nest: place,
            agent_env,
        };
        Ok(Started { session, xvnc: Some(xvnc), browser })
    }

    async fn start_headless(
        &self,
        begin: &Begin,
        stage: &mut Stage,
    ) -> Result<Started, GuestError> {
        self.reports.tell(Progress::Done(Stage::Sandbox));
        *stage = Stage::Browser;
        let cookies = self.cookies.lock().take();
        let place = BrowserNest::default();
        let browser = Browser::start(begin, cookies, place.clone(), self.log.clone());
        let (nest, browser) = tokio::try_join!(self.start_nest(begin), browser)?;
        self.reports.tell(Progress::Done(Stage::Browser));
        let agent_env = Arc::new(begin.env.clone());
        let cdp = browser.current();
        let structured = structured(&cdp, begin).await;
        let session = Session {
            display: None,
            passwords: None,
            cdp,
            browser: structured,
            nest,
            browser_nest: place,
            agent_env,
        };
        Ok(Started { session, xvnc: None, browser })
    }

    async fn start_nest(&self, begin: &Begin) -> Result<Nest, GuestError> {
        let (log, reports) = (self.log.clone(), self.reports.clone());
        let wrapper = passthrough::arguments(begin.browser_passthrough).unwrap_or_else(|error| {
            // The session works without following the agent's browsers.
            log.line("guest", &format!("browsers started by the agent are not followed: {error}"));
            String::new()
        });
        let spec = nest::agent(begin, &wrapper);
        let nest = Nest::start(spec, self.log.clone(), move || {
            log.line("guest", "the nested sandbox has ended");
            supervise::tell_lost(Part::Nest, &reports, &log);
        })?;
        workspace::mount(&nest, begin, &self.log).await;
        Ok(nest)
    }
}

/// The structured browser. Its time zone and language are set by environment and arguments.
async fn structured(cdp: &Arc<Current>, begin: &Begin) -> helmdeck_browser::Browser {
    let (timezone, locale) = (begin.timezone.clone(), begin.locale.clone());
    let own = Emulation { timezone, locale, ..Emulation::default() };
    let emulated = Emulation {
        geolocation: begin.geolocation,
        color_scheme: begin.color_scheme,
        ..Emulation::default()
    };
    let browser = helmdeck_browser::Browser::emulating(cdp.clone(), HOME.into(), own, emulated);
    if begin.mode == Mode::Desktop {
        browser.is_on_screen();
    }
    browser.follow().await;
    browser
}
