//! The handle to the browser of a session: one method for each action.

mod current;
mod records;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use helmdeck_cdp::Current;
use helmdeck_wire::{
    browser::{
        Acted, ClickElement, Clicked, ConcealField, Concealed, Emulate, Emulated, Emulation,
        Execute, Executed, ExportState, Extract, Extracted, HoverElement, ImportState, Imported,
        Interact, Interaction, Markdown, MarkdownText, Navigate, Navigated, PageScreenshot,
        Patience, Pdf, PdfDocument, PressKeys, SelectOptions, Selected, Snapshot, SnapshotText,
        StorageState, TabAction, TabId, TabList, Tabs, TypeInto, UploadFiles, WaitFor, Waited,
    },
    control::Hands,
    pointer::Button,
    screen::Picture,
};
use parking_lot::Mutex;
use tokio::{select, sync::watch};

use self::current::KnownBrowser;
use crate::{
    BrowserError, DownloadFiles, address::addressed, emulation::Emulating, events::Listeners,
    page_action::PageAction, private::SignIn, record::Records, running::Owner,
    site_limit::SiteLimit,
};

/// The browser of a session. A cheap handle that survives restarts of the browser process.
///
/// A call fails at once if its browser dies; the next call waits for the next browser. While a
/// browser that the agent's programs started is running, calls go to that one. The state of the
/// other browsers is kept.
#[derive(Clone)]
pub struct Browser {
    pub(crate) shared: Arc<Shared>,
    hands: Hands,
}

pub(crate) struct Shared {
    current: Arc<Current>,
    /// `None` if the browser is attached.
    download_files: Option<Arc<DownloadFiles>>,
    /// All known browsers. The first call that needs a browser initializes its state.
    known_browsers: Mutex<Vec<KnownBrowser>>,
    pictures: AtomicU64,
    /// Console messages and requests of all pages, including those of browsers that ended.
    records: Arc<Mutex<Records>>,
    emulating: Arc<Emulating>,
    /// Whether a task follows the browser between calls.
    followed: AtomicBool,
    /// The private sign-in that is under way, if any.
    pub(crate) private: watch::Sender<Option<SignIn>>,
    /// Whether the session's own browser has a window on a screen.
    pub(crate) on_screen: AtomicBool,
    pub(crate) listeners: Listeners,
    /// The sites that tabs may open, if there is a limit.
    pub(crate) site_limit: Mutex<Option<SiteLimit>>,
    /// One change of the limit at a time.
    pub(crate) limiting: tokio::sync::Mutex<()>,
}

impl Browser {
    /// Creates a handle to the browser in `current`. `home` is the session's home as Chromium sees
    /// it; downloads go to its `Downloads` folder.
    pub fn new(current: Arc<Current>, home: PathBuf) -> Self {
        Self::emulating(current, home, Emulation::default(), Emulation::default())
    }

    /// Like [`Self::new`], with emulation from the start. `own` is what a reset returns to;
    /// `emulated` is added to it.
    pub fn emulating(
        current: Arc<Current>,
        home: PathBuf,
        own: Emulation,
        emulated: Emulation,
    ) -> Self {
        Self::with_home(current, Some(home), Emulating::new(own, emulated))
    }

    /// A handle to an attached browser: it decides where downloads go, and it has no home.
    pub fn attached(current: Arc<Current>) -> Self {
        let none = Emulating::new(Emulation::default(), Emulation::default());
        Self::with_home(current, None, none)
    }

    /// A handle to the browser of a private sign-in. Request bodies are not recorded.
    pub fn private_to(current: Arc<Current>, own: Emulation, emulated: Emulation) -> Self {
        let browser = Self::with_home(current, None, Emulating::new(own, emulated));
        browser.shared.records.lock().network.private = true;
        browser
    }

    fn with_home(current: Arc<Current>, home: Option<PathBuf>, emulating: Emulating) -> Self {
        let (known_browsers, pictures) = (Mutex::default(), AtomicU64::new(0));
        let (records, emulating) = (Arc::default(), Arc::new(emulating));
        let (followed, on_screen) = (AtomicBool::new(false), AtomicBool::new(false));
        let download_files = home.map(|home| Arc::new(DownloadFiles::new(home)));
        let shared = Shared {
            current,
            download_files,
            known_browsers,
            pictures,
            records,
            emulating,
            followed,
            private: watch::Sender::new(None),
            on_screen,
            listeners: Listeners::default(),
            site_limit: Mutex::default(),
            limiting: tokio::sync::Mutex::default(),
        };
        Self { shared: Arc::new(shared), hands: Hands::Agent }
    }

    /// Marks the session's own browser as visible on a screen.
    pub fn is_on_screen(&self) {
        self.shared.on_screen.store(true, Ordering::Relaxed);
    }

    /// Returns a handle that acts for an agent, for a person, or only reads ([`Hands::Off`]). A
    /// reading handle answers no dialogs and neither opens nor activates tabs. During a private
    /// sign-in, a person's handle is for their private browser.
    pub fn in_hands(&self, hands: Hands) -> Self {
        let private = self.shared.private.borrow().clone();
        match private {
            Some(sign_in) if hands == Hands::Person => Self { hands, ..sign_in.browser },
            _ => Self { hands, ..self.clone() },
        }
    }

    /// Notes that control of the session changed. Request bodies are not recorded until an agent
    /// with control uses the browser again; the agent then continues in the tab it had.
    pub fn handed_over(&self, to_person: bool) {
        self.shared.records.lock().network.private = true;
        if to_person {
            self.shared.site_limit.lock().take();
            self.shared.remember();
        }
    }

    /// Where downloads arrive; `None` for an attached browser.
    pub fn download_files(&self) -> Option<Arc<DownloadFiles>> {
        self.shared.download_files.clone()
    }

    /// Goes to an address, or one step through the history.
    pub async fn navigate(&self, navigate: &Navigate) -> Result<Navigated, BrowserError> {
        let Navigate { tab, timeout_s, .. } = navigate;
        let fill = navigate.url.is_some();
        self.turn(tab.as_ref(), false, fill, *timeout_s).await?.navigate(navigate).await
    }

    /// Reads the page or one element.
    pub async fn extract(&self, extract: &Extract) -> Result<Extracted, BrowserError> {
        let Extract { tab, timeout_s, .. } = extract;
        self.alive(tab.as_ref(), false, *timeout_s).await?.extract(extract).await
    }

    /// The page as an accessibility tree.
    pub async fn snapshot(&self, snapshot: &Snapshot) -> Result<SnapshotText, BrowserError> {
        let Snapshot { tab, timeout_s, .. } = snapshot;
        self.alive(tab.as_ref(), false, *timeout_s).await?.snapshot(snapshot).await
    }

    /// The page as Markdown.
    pub async fn markdown(&self, markdown: &Markdown) -> Result<MarkdownText, BrowserError> {
        let Markdown { tab, timeout_s, .. } = markdown;
        self.alive(tab.as_ref(), false, *timeout_s).await?.markdown(markdown).await
    }

    /// Takes a picture of the page or one element.
    pub async fn screenshot(&self, shot: &PageScreenshot) -> Result<Picture, BrowserError> {
        let PageScreenshot { tab, timeout_s, .. } = shot;
        let number = self.shared.pictures.fetch_add(1, Ordering::Relaxed) + 1;
        self.alive(tab.as_ref(), false, *timeout_s).await?.screenshot(shot, number).await
    }

    /// Prints the page to PDF.
    pub async fn pdf(&self, pdf: &Pdf) -> Result<PdfDocument, BrowserError> {
        let Pdf { tab, timeout_s, .. } = pdf;
        self.alive(tab.as_ref(), false, *timeout_s).await?.pdf(pdf).await
    }

    /// Runs a script in the page.
    pub async fn execute(&self, execute: &Execute) -> Result<Executed, BrowserError> {
        let Execute { tab, timeout_s, .. } = execute;
        self.alive(tab.as_ref(), false, *timeout_s).await?.execute(execute).await
    }

    /// Clicks an element once it can be clicked.
    pub async fn click(&self, click: &ClickElement) -> Result<Clicked, BrowserError> {
        let ClickElement { tab, timeout_s, accept_dialogs, .. } = click;
        self.alive(tab.as_ref(), *accept_dialogs, *timeout_s).await?.click(click).await
    }

    /// Moves the mouse onto an element.
    pub async fn hover(&self, hover: &HoverElement) -> Result<Clicked, BrowserError> {
        let HoverElement { tab, timeout_s, .. } = hover;
        self.alive(tab.as_ref(), false, *timeout_s).await?.hover(hover).await
    }

    /// Types text into a field.
    pub async fn type_into(&self, typing: &TypeInto) -> Result<Clicked, BrowserError> {
        let TypeInto { tab, timeout_s, .. } = typing;
        self.alive(tab.as_ref(), false, *timeout_s).await?.type_into(typing).await
    }

    /// Chooses options of a select element.
    pub async fn select(&self, select: &SelectOptions) -> Result<Selected, BrowserError> {
        let SelectOptions { tab, timeout_s, .. } = select;
        self.alive(tab.as_ref(), false, *timeout_s).await?.select(select).await
    }

    /// Draws the text of a field as dots, and leaves it out of lists of elements, until it is empty.
    pub async fn conceal(&self, conceal: &ConcealField) -> Result<Concealed, BrowserError> {
        let ConcealField { tab, timeout_s, .. } = conceal;
        self.alive(tab.as_ref(), false, *timeout_s).await?.conceal(conceal).await
    }

    /// Presses keys in the page.
    pub async fn press(&self, press: &PressKeys) -> Result<Acted, BrowserError> {
        let PressKeys { tab, timeout_s, .. } = press;
        self.alive(tab.as_ref(), false, *timeout_s).await?.press(press).await
    }

    /// Sets the files of a file input.
    pub async fn upload(&self, upload: &UploadFiles) -> Result<Acted, BrowserError> {
        let UploadFiles { tab, timeout_s, .. } = upload;
        let mut turn = self.alive(tab.as_ref(), false, *timeout_s).await?;
        let home = self.shared.download_files.as_deref().map(DownloadFiles::home);
        let home = home.ok_or(BrowserError::Invalid {
            field: "files",
            message: "an attached browser cannot use files of the session",
        })?;
        turn.upload(home, upload).await
    }

    /// Waits for a condition on the page.
    pub async fn wait_for(&self, wait: &WaitFor) -> Result<Waited, BrowserError> {
        let WaitFor { tab, timeout_s, .. } = wait;
        self.alive(tab.as_ref(), false, *timeout_s).await?.wait_for(wait).await
    }

    /// The older combined call: dispatches to the newer actions.
    pub async fn interact(&self, interact: &Interact) -> Result<Acted, BrowserError> {
        let Interact { action, selector, value, timeout_s } = interact.clone();
        let message = "expected value for type and select";
        let value = || value.ok_or(BrowserError::Invalid { field: "value", message });
        match action {
            Interaction::Click => {
                let click = ClickElement {
                    selector,
                    button: Button::Left,
                    count: 1,
                    modifiers: Vec::new(),
                    accept_dialogs: false,
                    tab: None,
                    timeout_s,
                };
                self.click(&click).await.map(|clicked| clicked.acted)
            }
            Interaction::Hover => {
                let hover = HoverElement { selector, tab: None, timeout_s };
                self.hover(&hover).await.map(|clicked| clicked.acted)
            }
            Interaction::Type => {
                let typing = TypeInto {
                    selector,
                    text: value()?,
                    append: false,
                    slowly: false,
                    submit: false,
                    tab: None,
                    timeout_s,
                };
                self.type_into(&typing).await.map(|clicked| clicked.acted)
            }
            Interaction::Select => {
                let values = vec![value()?];
                let select = SelectOptions { selector, values, tab: None, timeout_s };
                self.select(&select).await.map(|selected| selected.acted)
            }
            Interaction::Focus => self.alive(None, false, timeout_s).await?.focus(&selector).await,
        }
    }

    /// Exports cookies and site storage.
    pub async fn export_state(&self, export: &ExportState) -> Result<StorageState, BrowserError> {
        let deadline = due(export.timeout_s);
        self.running(deadline).await?.export(export, deadline).await
    }

    /// Imports cookies and site storage.
    pub async fn import_state(&self, import: &ImportState) -> Result<Imported, BrowserError> {
        let deadline = due(import.timeout_s);
        self.running(deadline).await?.import(import, deadline).await
    }

    /// Changes the emulation: geolocation, locale, time zone and media features.
    pub async fn emulate(&self, emulate: &Emulate) -> Result<Emulated, BrowserError> {
        let deadline = due(emulate.timeout_s);
        let emulated = self.running(deadline).await?.emulate(emulate, deadline).await?;
        self.follow().await;
        Ok(emulated)
    }

    /// Lists, opens, closes or activates tabs.
    pub async fn tabs(&self, tabs: &Tabs) -> Result<TabList, BrowserError> {
        let deadline = due(tabs.timeout_s);
        let running = self.running(deadline).await?;
        if tabs.action != TabAction::List && self.hands == Hands::Person {
            running.known.tabs.lock().remember();
        }
        match tabs.action {
            TabAction::List => {}
            TabAction::Open => {
                let url = tabs.url.as_deref().map(addressed).transpose()?;
                running.open(url.as_deref(), deadline).await?;
            }
            TabAction::Close => running.close(&running.meant(tabs)?, deadline).await?,
            TabAction::Activate => {
                running.activate(running.meant(tabs)?.tab(), deadline).await?;
            }
        }
        if tabs.action != TabAction::List && self.hands == Hands::Agent {
            running.known.tabs.lock().forget();
        }
        running.look_again().await;
        let list = running.known.tabs.lock().list();
        Ok(TabList { tabs: list })
    }

    /// Begins an action in a tab whose page has not crashed.
    pub(crate) async fn alive(
        &self,
        tab: Option<&TabId>,
        accept_dialogs: bool,
        patience: Patience,
    ) -> Result<PageAction, BrowserError> {
        let turn = self.turn(tab, accept_dialogs, false, patience).await?;
        if turn.page.with(|state| state.crashed) { Err(BrowserError::PageGone) } else { Ok(turn) }
    }

    async fn turn(
        &self,
        tab: Option<&TabId>,
        accept_dialogs: bool,
        fill: bool,
        patience: Patience,
    ) -> Result<PageAction, BrowserError> {
        let deadline = due(patience);
        loop {
            let running = self.running(deadline).await?;
            let off = self.hands == Hands::Off;
            let page = async {
                if off {
                    running.shown(tab, deadline).await
                } else {
                    running.page(tab, fill, deadline).await
                }
            };
            let page = select! {
                biased;
                page = page => page?,
                // The browser lost its last page: continue with the next browser.
                () = self.left(&running), if tab.is_none() && running.owner == Owner::Agent => continue,
            };
            if off {
                return PageAction::begin_looking(running, page, deadline);
            }
            let on_screen =
                running.owner == Owner::Session && self.shared.on_screen.load(Ordering::Relaxed);
            let mut turn = PageAction::begin(running, page, accept_dialogs, deadline).await;
            turn.on_screen = on_screen;
            return Ok(turn);
        }
    }
}

fn due(patience: Patience) -> Instant {
    Instant::now() + patience.duration()
}
