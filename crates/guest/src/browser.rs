//! Chromium with its own sandbox, controlled over a pipe that no other program can reach.

use std::{fs, io, os::fd::OwnedFd, path::Path, process::Stdio, sync::Arc, time::Duration};

use helmdeck_cdp::{Cdp, CdpError, Current, Restarting};
use helmdeck_display::Display;
use helmdeck_wire::{
    guest::Begin,
    session::Mode,
    window::{Focus, ListWindows, WindowId},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::{
    net::unix::pipe,
    process::Command,
    select,
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::{
    desktop, egress,
    error::GuestError,
    extension,
    log::Log,
    nest::{self, Nest, Spawned, Start},
    owners::BrowserNest,
    profile,
};

/// Enough for a cold start on a busy machine.
const START_DEADLINE: Duration = Duration::from_secs(45);
/// How long to wait for the window manager to manage the browser's window, and how often to check.
const PRESENT_DEADLINE: Duration = Duration::from_secs(20);
/// A drawn browser window has more colours than this.
const DRAWN: usize = 16;
const PRESENT_PAUSE: Duration = Duration::from_millis(10);
/// Limit on asking the browser for its process id.
const PROCESS_DEADLINE: Duration = Duration::from_secs(5);
/// Where the browser keeps its profile.
pub const PROFILE: &str = "/home/browser/.config/chromium";
/// Files that a browser leaves for the next run. Their process ids belong to a namespace that is
/// gone, so the next browser could take another process for the old browser.
const SINGLETON: [&str; 3] = ["SingletonLock", "SingletonSocket", "SingletonCookie"];
/// The class of Chromium's windows.
pub const WINDOW_CLASS: &str = "chromium";

/// Turns off background activity that a session does not need; nothing here weakens the browser.
/// Settings without a switch are in the policy in `/etc/chromium`. Accounts and component updates
/// have neither, so their addresses point to the session's own loopback, where nothing answers. The
/// browser draws the list below the address bar itself: as a web page, the list takes a second of
/// processor time at every start.
const QUIET: &str = "--no-first-run --no-default-browser-check --password-store=basic \
    --disable-background-networking --disable-component-update --disable-sync \
    --disable-breakpad --disable-crash-reporter --disable-domain-reliability --no-pings \
    --disable-default-apps --hide-crash-restore-bubble --disable-gpu --disable-quic \
    --force-webrtc-ip-handling-policy=disable_non_proxied_udp \
    --gaia-url=http://127.255.255.254:9/ \
    --component-updater=url-source=http://127.255.255.254:9/ \
    --disable-features=OptimizationHints,OptimizationGuideModelDownloading,\
NetworkTimeServiceQuerying,MediaRouter,Translate,AutofillServerCommunication,\
WebUIOmniboxPopup,WebUIOmniboxAimPopup";

/// A mouse that can hover and point precisely. Chromium detects none with Xvnc or without a screen,
/// and pages would omit their hover styles.
const MOUSE: &str = "--blink-settings=primaryHoverType=2,availableHoverTypes=2,\
primaryPointerType=4,availablePointerTypes=4";
/// Makes `navigator.webdriver` false, although the browser is automated.
const NOT_ANNOUNCED: &str = "--disable-blink-features=AutomationControlled";
/// Limit on asking Chromium for its version.
const VERSION_DEADLINE: Duration = Duration::from_secs(20);

/// Makes a page accept input as soon as it can be reached, and not only after its first paint.
/// Earlier clicks would be lost without an error.
pub const EARLY_INPUT: &str = "--allow-pre-commit-input";

/// Settings of a new profile: nothing typed into the address bar is sent before Enter.
///
/// Windows use the window manager's frame. By default Chromium decides by whether a manager runs
/// when it starts, so the frame could differ after a restart.
const PREFERENCES: &str =
    r#"{"search": {"suggest_enabled": false}, "browser": {"custom_chrome_frame": false}}"#;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Processes {
    process_info: Vec<Process>,
}

#[derive(Deserialize)]
struct Process {
    #[serde(rename = "type")]
    kind: String,
    id: u32,
}

/// The running browser, and the handle through which clients find the current one.
pub struct Browser {
    current: Arc<Current>,
    launched: Launched,
    place: BrowserNest,
    log: Log,
}

/// A running browser, in a nested sandbox that ends with it.
pub struct Launched {
    pub nest: Nest,
    pub process: Spawned,
}

impl Browser {
    /// Starts Chromium and waits until it answers on its debugging pipe.
    pub async fn start(
        begin: &Begin,
        cookies: Option<Value>,
        place: BrowserNest,
        log: Log,
    ) -> Result<Self, GuestError> {
        write_preferences().map_err(|e| GuestError::Io("browser settings", e))?;
        let current = Arc::new(Current::new());
        let launched = launch(begin, &current, cookies, &place, &log).await?;
        Ok(Self { current, launched, place, log })
    }

    /// Starts Chromium again after it ended.
    pub async fn restart(&mut self, begin: &Begin) -> Result<(), GuestError> {
        self.launched = launch(begin, &self.current, None, &self.place, &self.log).await?;
        Ok(())
    }

    /// Maximizes its window and focuses it, as a person expects of a new browser. The window may
    /// have been mapped before the window manager started, or may have lost its position in a
    /// crash.
    ///
    /// `keyboard` states whether it gets the focus: a browser that keeps ending would take it from
    /// others.
    pub async fn present(&self, display: &Display, keyboard: bool) -> Result<(), GuestError> {
        let cdp =
            self.current.own(Duration::ZERO).await.map_err(|_| GuestError::Ended("chromium"))?;
        select! {
            presented = present(display, keyboard) => presented,
            () = cdp.closed() => Err(GuestError::Ended("chromium")),
        }
    }

    /// The handle to its debugging pipe, valid across restarts.
    pub fn current(&self) -> Arc<Current> {
        self.current.clone()
    }

    /// Marks the browser as absent for some time because of how it ended. Returns after that time.
    pub async fn pause(&self, how: &str, pause: Duration) {
        let next = Instant::now() + pause;
        self.current.pause(Restarting { how: how.to_owned(), next: next.into() });
        sleep_until(next).await;
        self.current.clear();
    }

    /// Waits until it ends, and returns how it ended.
    pub async fn ended(&mut self) -> String {
        let how = (&mut self.launched.process.ended).await;
        self.current.clear();
        // Its remaining processes end with it.
        self.launched.nest.end().await;
        how.unwrap_or_else(|_| "with the nested sandbox".to_owned())
    }
}

/// Starts the browser of a private sign-in, in an isolated nested sandbox. Its output is not
/// logged, because agents can read the session's log.
pub async fn launch_private(
    begin: &Begin,
    current: &Current,
    log: &Log,
) -> Result<Launched, GuestError> {
    let ended = log.clone();
    let nest = Nest::start(nest::private(begin), Log::default(), move || {
        ended.line("guest", "the private browser's nested sandbox has ended");
    })?;
    let started = async {
        nest.restrict().await?;
        start(&nest, begin, current, None).await
    };
    match started.await {
        Ok(process) => Ok(Launched { nest, process }),
        Err(error) => {
            nest.end().await;
            Err(error)
        }
    }
}

/// Creates a nested sandbox and starts Chromium there.
async fn launch(
    begin: &Begin,
    current: &Current,
    cookies: Option<Value>,
    place: &BrowserNest,
    log: &Log,
) -> Result<Launched, GuestError> {
    for left in SINGLETON {
        // Usually there is none.
        let _ = fs::remove_file(Path::new(PROFILE).join(left));
    }
    let ended = log.clone();
    let nest = Nest::start(nest::browser(begin), log.clone(), move || {
        ended.line("guest", "the browser's nested sandbox has ended");
    })?;
    place.set(&nest);
    let started = async {
        nest.restrict().await?;
        if begin.mode == Mode::Desktop {
            desktop::start_browser_bus(&nest).await?;
            desktop::start_browser_registry(&nest, log).await;
        }
        start(&nest, begin, current, cookies).await
    };
    match started.await {
        Ok(process) => Ok(Launched { nest, process }),
        Err(error) => {
            nest.end().await;
            Err(error)
        }
    }
}

async fn start(
    nest: &Nest,
    begin: &Begin,
    current: &Current,
    cookies: Option<Value>,
) -> Result<Spawned, GuestError> {
    let (process, cdp) = connect(nest, begin).await?;
    extension::load(&cdp, &begin.extensions).await?;
    if let Some(cookies) = cookies {
        profile::restore_cookies(&cdp, cookies).await;
    }
    current.set(cdp);
    Ok(process)
}

/// Starts Chromium and waits until it answers.
async fn connect(nest: &Nest, begin: &Begin) -> Result<(Spawned, Cdp), GuestError> {
    let pipes = |e: io::Error| GuestError::Io("pipe of the browser", e);
    let (their_input, our_output) = std::io::pipe().map_err(pipes)?;
    let (our_input, their_output) = std::io::pipe().map_err(pipes)?;
    let descriptors = vec![(their_input.into(), 3), (their_output.into(), 4)];
    let mut args = arguments(begin);
    if begin.mode == Mode::Headless && !begin.announce_automation {
        args.insert(0, format!("--user-agent={}", user_agent(&version().await?)));
    }
    let program = "chromium";
    let process = nest.require(Start { program, args, descriptors, ..Start::default() }).await?;
    let commands = pipe::Sender::from_owned_fd(nonblocking(our_output.into())?).map_err(pipes)?;
    let answers = pipe::Receiver::from_owned_fd(nonblocking(our_input.into())?).map_err(pipes)?;
    let cdp = Cdp::new(answers, commands);
    match cdp.call::<IgnoredAny>(None, "Browser.getVersion", json!({}), START_DEADLINE).await {
        Ok(_) => {}
        Err(CdpError::Deadline { .. }) => {
            let seconds = START_DEADLINE.as_secs();
            return Err(GuestError::NotReady { program: "chromium", seconds });
        }
        Err(_) => return Err(GuestError::Ended("chromium")),
    }
    Ok((process, cdp))
}

/// Writes the settings of a new profile.
fn write_preferences() -> io::Result<()> {
    let path = Path::new(PROFILE).join("Default/Preferences");
    if path.exists() {
        return Ok(());
    }
    fs::create_dir_all(Path::new(PROFILE).join("Default"))?;
    fs::write(path, PREFERENCES)
}

fn nonblocking(fd: OwnedFd) -> Result<OwnedFd, GuestError> {
    match rustix::io::ioctl_fionbio(&fd, true) {
        Ok(()) => Ok(fd),
        Err(error) => Err(GuestError::Io("pipe of the browser", error.into())),
    }
}

fn arguments(begin: &Begin) -> Vec<String> {
    let mut args: Vec<String> = QUIET.split_whitespace().map(str::to_owned).collect();
    args.push("--remote-debugging-pipe".into());
    args.push(EARLY_INPUT.into());
    args.push(MOUSE.into());
    if !begin.announce_automation {
        args.push(NOT_ANNOUNCED.into());
    }
    args.push(format!("--proxy-server={}", egress::PROXY));
    args.push(format!("--user-data-dir={PROFILE}"));
    let (width, height) = (begin.geometry.width, begin.geometry.height);
    args.push(format!("--window-size={width},{height}"));
    if let Some(locale) = &begin.locale {
        let language = locale.replace('_', "-");
        args.push(format!("--lang={language}"));
        args.push(format!("--accept-lang={language}"));
    }
    match begin.mode {
        Mode::Headless => args.push("--headless=new".into()),
        Mode::Desktop => {
            args.extend(["--start-maximized", "--window-position=0,0"].map(str::to_owned));
            args.push("--force-renderer-accessibility".into());
            // Keeps the browser running without a window; the session opens another. This counts as
            // background mode, which no policy may turn off.
            args.push("--keep-alive-for-test".into());
        }
    }
    args.push("about:blank".into());
    args
}

/// Chromium's version, which a headless browser needs for its user agent.
async fn version() -> Result<String, GuestError> {
    let mut command = Command::new("chromium");
    command.arg("--product-version").stdin(Stdio::null()).kill_on_drop(true);
    let asked = timeout(VERSION_DEADLINE, command.output()).await;
    let late = |_| GuestError::NotReady {
        program: "chromium --product-version",
        seconds: VERSION_DEADLINE.as_secs(),
    };
    let failed = |source| GuestError::Spawn { program: "chromium".into(), source };
    let said = asked.map_err(late)?.map_err(failed)?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// The user agent of a Chromium of this version with a screen: only the major version appears.
fn user_agent(version: &str) -> String {
    let major = version.split('.').next().unwrap_or_default();
    format!(
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
         Chrome/{major}.0.0.0 Safari/537.36"
    )
}

/// A browser's process id inside the sandbox; `None` if it does not report it.
pub async fn process(cdp: &Cdp) -> Option<u32> {
    let method = "SystemInfo.getProcessInfo";
    let processes = cdp.call::<Processes>(None, method, json!({}), PROCESS_DEADLINE).await.ok()?;
    let browser = processes.process_info.into_iter().find(|process| process.kind == "browser");
    browser.map(|process| process.id)
}

async fn present(display: &Display, keyboard: bool) -> Result<(), GuestError> {
    let deadline = Instant::now() + PRESENT_DEADLINE;
    loop {
        let (screen_width, _) = display.size().await?;
        let windows = display.windows(&ListWindows {}).await?.windows;
        // The agent's programs may show other browsers.
        let browser =
            windows.iter().find(|w| w.browser && w.class.eq_ignore_ascii_case(WINDOW_CLASS));
        let id = browser.and_then(|window| window.id.parse().ok()).map(WindowId);
        if let (Some(window), Some(window_id)) = (browser, id) {
            let maximized = window.width == u32::from(screen_width);
            let focused = window.focused || !keyboard;
            let placed = maximized && focused;
            // Excludes the frame, which appears before the content is drawn.
            let top = window.y.max(0).unsigned_abs();
            let lines = top..top + window.height;
            if placed && display.colours(lines, DRAWN).await? == DRAWN {
                return Ok(());
            }
            if !maximized {
                display.maximize(window_id).await?;
            }
            if !focused {
                // A busy window manager may refuse; the request is repeated.
                let _ = display.focus(&Focus { window_id }).await;
            }
        }
        if Instant::now() > deadline {
            return Err(GuestError::NotReady { program: "chromium's window", seconds: 20 });
        }
        sleep(PRESENT_PAUSE).await;
    }
}
