//! Gathers windows and elements into one scene.

use std::time::Duration;

use helmdeck_a11y::{Element, Scene, Surface};
use helmdeck_atspi::{Answer, Program, Request};
use helmdeck_browser::{BrowserError, Exposure, PageElements, ShownTab};
use helmdeck_display::{Stack, StackedWindow};
use helmdeck_wire::{
    aim::Source,
    browser::TabId,
    point::{Pixel, Rect},
    tree::TreeWindow,
};
use tokio::join;

use super::{reader::ReaderLocation, window_of};
use crate::{begin::Guest, error::GuestError, observe::Owner};

/// What a program has to answer, and a page.
const PROGRAM_DEADLINE: Duration = Duration::from_millis(400);
const PAGE_DEADLINE: Duration = Duration::from_millis(800);
/// The same for the focus alone, and the limit on elements that are asked for it.
const FOCUS_DEADLINE: Duration = Duration::from_millis(150);
const MAX_FOCUSABLE: usize = 1500;
/// Limit on tabs that are asked whether they are shown.
const MAX_TABS: usize = 20;

/// What is on the screen.
#[derive(Default)]
pub struct Gathered {
    /// Windows and elements.
    pub scene: Scene,
    /// Pages that windows show.
    pub pages: Vec<Page>,
    /// Sources that could not be read, and why.
    pub notes: Vec<String>,
}

/// A page that a window shows.
#[derive(Debug, Clone)]
pub struct Page {
    /// The index of the window.
    pub surface: usize,
    /// Its tab.
    pub tab: TabId,
    /// The upper left corner of its viewport on the screen.
    pub corner: Pixel,
}

/// How much is read of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What can be seen.
    Visible,
    /// Also what is scrolled out of view.
    Everything,
}

/// A browser window that is visible.
struct BrowserSurface {
    at: usize,
    title: String,
    rect: Rect,
}

/// What a browser window shows; `None` if it is no page of a tab.
type Shown = (usize, Result<Option<PageElements>, BrowserError>);

/// Reads everything that is on the screen. Of long texts of pages, the part with `wanted` is read.
pub async fn everything(
    guest: &Guest,
    what: Extent,
    wanted: Option<&str>,
) -> Result<Gathered, GuestError> {
    let stack = guest.display()?.stack().await?;
    let mut gathered = Gathered { scene: scene(stack), ..Gathered::default() };
    // Windows that nothing can be seen of are not asked for elements.
    gathered.scene.reveal();
    let (own, others) = gathered.visible();
    let browses = !own.is_empty();
    let (programs, browser, pages) = join!(
        async { if others { guest.read_programs(None).await } else { Ok(Answer::default()) } },
        async {
            if browses { guest.read_browser(None, true).await } else { Ok(Answer::default()) }
        },
        pages(guest, own, what, wanted),
    );
    gathered.add_programs(guest, programs, false);
    let places = gathered.add_programs(guest, browser, true);
    let unread = gathered.add_pages(pages, &places);
    // Pages of the browser itself are only known as parts of the program.
    if unread && let Ok(browser) = guest.read_browser(None, false).await {
        let read: Vec<usize> = gathered.pages.iter().map(|page| page.surface).collect();
        let earlier = gathered.scene.elements.len();
        gathered.add_programs(guest, Ok(browser), true);
        gathered.forget_repeated(earlier, &read);
    }
    gathered.scene.reveal();
    Ok(gathered)
}

/// The windows of a scene, without elements.
pub fn scene(stack: Stack) -> Scene {
    let (width, height) = stack.screen;
    let screen = Rect { x: 0, y: 0, width: width.into(), height: height.into() };
    Scene { screen, surfaces: stack.windows.into_iter().map(surface).collect(), ..Scene::default() }
}

fn surface(stacked: StackedWindow) -> Surface {
    let StackedWindow { facts, frame, popup, furniture, panel } = stacked;
    let rect = Rect { x: facts.x, y: facts.y, width: facts.width, height: facts.height };
    let window = TreeWindow {
        id: facts.id,
        name: facts.name,
        class: facts.class,
        pid: facts.pid,
        browser: facts.browser,
        rect,
        focused: facts.focused,
        popup,
        panel,
        opaque: panel,
        ..TreeWindow::default()
    };
    Surface { window, frame, listed: !furniture }
}

impl Guest {
    /// The accessible elements of the agent's programs, or only those at a point.
    pub(super) async fn read_programs(&self, at: Option<Pixel>) -> Result<Answer, String> {
        let beside = match self.attached() {
            Some(_) => ReaderLocation::Here,
            None => ReaderLocation::Nest(self.session().map_err(|e| e.to_string())?.nest),
        };
        self.elements.programs.read(&beside, request(at, false)).await
    }

    /// The accessible elements of the session's own browser, without those of pages if CDP reports
    /// them.
    pub(super) async fn read_browser(
        &self,
        at: Option<Pixel>,
        without_pages: bool,
    ) -> Result<Answer, String> {
        let Ok(session) = self.session() else { return Ok(Answer::default()) };
        let nest = session.browser_nest.get().ok_or("the browser is not running")?;
        self.elements.browser.read(&ReaderLocation::Nest(nest), request(at, without_pages)).await
    }

    /// The element of a program that has the keyboard focus, and the elements at a point.
    pub async fn read_focus(&self, owner: Owner, at: Option<(i32, i32)>) -> Option<Program> {
        let session = self.session().ok();
        let (reader, beside, pid) = match owner {
            Owner::Browser => {
                let nest = session?.browser_nest.get()?;
                (&self.elements.browser, ReaderLocation::Nest(nest), None)
            }
            Owner::Program(pid) => {
                let beside = match self.attached() {
                    Some(_) => ReaderLocation::Here,
                    None => ReaderLocation::Nest(session?.nest),
                };
                (&self.elements.programs, beside, Some(pid))
            }
        };
        let deadline_ms = u64::try_from(FOCUS_DEADLINE.as_millis()).unwrap_or_default();
        let max_nodes = MAX_FOCUSABLE;
        let request =
            Request { deadline_ms, max_nodes, at, pid, focus: true, ..request(None, true) };
        let programs = reader.read(&beside, request).await.ok()?.programs;
        let focused = programs.iter().position(|program| program.focus.is_some());
        programs.into_iter().nth(focused.unwrap_or(0))
    }
}

fn request(at: Option<Pixel>, without_pages: bool) -> Request {
    Request {
        deadline_ms: u64::try_from(PROGRAM_DEADLINE.as_millis()).unwrap_or_default(),
        max_nodes: window_of::MAX_NODES,
        at: at.map(|at| (at.x, at.y)),
        without_pages,
        ..Request::default()
    }
}

impl Gathered {
    /// Adds the elements of programs. Returns where browser windows show pages.
    pub(super) fn add_programs(
        &mut self,
        guest: &Guest,
        answer: Result<Answer, String>,
        browser: bool,
    ) -> Vec<(usize, Rect)> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.notes.push(error);
                return Vec::new();
            }
        };
        let Scene { surfaces, elements, .. } = &mut self.scene;
        let mut refs = guest.elements.refs.lock();
        let mut pages = Vec::new();
        for program in &answer.programs {
            let is_own = |surface: &Surface| {
                let window = &surface.window;
                if browser { window.browser } else { !window.browser && window.pid == program.pid }
            };
            let own: Vec<usize> =
                (0..surfaces.len()).filter(|at| surfaces.get(*at).is_some_and(is_own)).collect();
            for at in &own {
                if let Some(surface) = surfaces.get_mut(*at) {
                    surface.window.unresponsive |= program.unresponsive;
                }
            }
            let first = elements.len();
            let bus = if browser { "browser" } else { "programs" };
            window_of::add(elements, program, surfaces, &own, |path| {
                refs.name(&format!("{bus} {} {path}", program.bus_name))
            });
            if browser {
                pages.extend(window_of::pages(program, elements, first));
            }
        }
        if !browser {
            let known: Vec<u32> = answer.programs.iter().filter_map(|it| it.pid).collect();
            for surface in surfaces.iter_mut().filter(|surface| !surface.window.browser) {
                surface.window.opaque = !surface.window.pid.is_some_and(|it| known.contains(&it));
            }
        }
        pages
    }

    /// The browser windows that can be seen, and whether any other window can.
    fn visible(&self) -> (Vec<BrowserSurface>, bool) {
        let mut own = Vec::new();
        let mut others = false;
        for (at, surface) in self.scene.surfaces.iter().enumerate() {
            let window = &surface.window;
            if window.covered || !surface.listed {
                continue;
            }
            if !window.browser {
                others = true;
            } else if !window.popup {
                let (title, rect) = (window.name.clone(), window.rect);
                own.push(BrowserSurface { at, title, rect });
            }
        }
        (own, others)
    }

    /// Adds the elements of the pages that browser windows show. Returns whether a window shows
    /// something else.
    fn add_pages(&mut self, pages: Vec<Shown>, places: &[(usize, Rect)]) -> bool {
        let mut unread = false;
        for (at, page) in pages {
            match page {
                Ok(Some(page)) => {
                    let place = places.iter().find(|(surface, _)| *surface == at);
                    self.add_page(at, page, place.map(|(_, rect)| *rect));
                }
                Ok(None) => unread = true,
                Err(error) => {
                    let why = GuestError::from(error).body().message;
                    self.notes.push(format!("a page cannot be read: {why}"));
                }
            }
        }
        unread
    }

    fn add_page(&mut self, surface: usize, page: PageElements, place: Option<Rect>) {
        let Some(tab) = page.tab.clone() else { return };
        let told = page.corner.map(|(x, y)| Pixel { x: x.round() as i32, y: y.round() as i32 });
        let Some(corner) = place.map(|rect| Pixel { x: rect.x, y: rect.y }).or(told) else {
            return;
        };
        let size = |length: f64| length.round().clamp(0.0, 65_535.0) as u32;
        let (width, height) = (size(page.size.0), size(page.size.1));
        let viewport = Rect { x: corner.x, y: corner.y, width, height };
        if let Some(surface) = self.scene.surfaces.get_mut(surface) {
            surface.window.url = Some(page.url.clone());
        }
        let elements = &mut self.scene.elements;
        let root = elements.len();
        elements.push(Element {
            role: "document".to_owned(),
            name: page.title.clone(),
            surface: Some(surface),
            rect: Some(viewport),
            clips: true,
            source: Source::Dom,
            ..Element::default()
        });
        for element in page.elements {
            let [x, y, width, height] = element.rect;
            // Edges are rounded, so that neighbours do not overlap.
            let edge = |at: f64| at.round().clamp(-1e6, 1e6) as i32;
            let (left, top) = (edge(x) + corner.x, edge(y) + corner.y);
            let (right, bottom) = (edge(x + width) + corner.x, edge(y + height) + corner.y);
            let rect = helmdeck_a11y::rect::from_edges(left, top, right, bottom);
            elements.push(Element {
                reference: element.reference,
                parent: Some(element.parent.map_or(root, |parent| parent + root + 1)),
                surface: Some(surface),
                role: element.role,
                name: element.name,
                value: element.value,
                states: element.states,
                rect,
                veiled: element.exposure != Exposure::Visible,
                source: Source::Dom,
                ..Element::default()
            });
        }
        self.pages.push(Page { surface, tab, corner });
    }

    /// Removes what was read a second time: all but the content of pages that are not known
    /// otherwise.
    fn forget_repeated(&mut self, from: usize, read: &[usize]) {
        let mut seen: std::collections::HashSet<String> = std::collections::HashSet::new();
        seen.extend(self.scene.elements.iter().take(from).map(|it| it.reference.clone()));
        for element in self.scene.elements.iter_mut().skip(from) {
            let known = element.surface.is_some_and(|surface| read.contains(&surface));
            if known || seen.contains(&element.reference) {
                // Kept as a parent, but invisible and without a name.
                element.surface = None;
            }
        }
    }
}

/// The pages that browser windows show.
async fn pages(
    guest: &Guest,
    windows: Vec<BrowserSurface>,
    what: Extent,
    wanted: Option<&str>,
) -> Vec<Shown> {
    let Some(first) = windows.first() else { return Vec::new() };
    let tabs = async { guest.browser()?.own_tabs(PAGE_DEADLINE).await.map_err(GuestError::from) };
    let mut tabs = match tabs.await {
        Ok(tabs) => tabs,
        Err(GuestError::Browser(error)) => return vec![(first.at, Err(error))],
        // An attached display without a browser.
        Err(_) => return Vec::new(),
    };
    let mut shown = Vec::new();
    for window in windows {
        let page = page_of(guest, &tabs, &window, what, wanted).await;
        if let Ok(Some(page)) = &page {
            tabs.retain(|tab| Some(&tab.id) != page.tab.as_ref());
        }
        shown.push((window.at, page));
    }
    shown
}

/// The page that a window shows; `None` if none of the tabs does.
async fn page_of(
    guest: &Guest,
    tabs: &[ShownTab],
    window: &BrowserSurface,
    what: Extent,
    wanted: Option<&str>,
) -> Result<Option<PageElements>, BrowserError> {
    let Ok(browser) = guest.browser() else { return Ok(None) };
    let mut candidates: Vec<&ShownTab> = tabs.iter().collect();
    // The title of the window begins with that of the page. Tabs with other titles come last:
    // pages may have changed theirs at this moment.
    candidates.sort_by_key(|tab| {
        let fits = !tab.title.is_empty() && window.title.starts_with(&tab.title);
        std::cmp::Reverse(if fits { tab.title.len() } else { 0 })
    });
    let mut failed = None;
    for tab in candidates.into_iter().take(MAX_TABS) {
        let in_view = what == Extent::Visible;
        match browser.shown_elements(&tab.id, in_view, wanted, PAGE_DEADLINE).await {
            Ok(page) if !page.hidden && window.holds(&page) => return Ok(Some(page)),
            Ok(_) => {}
            Err(error @ (BrowserError::DialogOpen(_) | BrowserError::Private { .. })) => {
                return Err(error);
            }
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(None), Err)
}

impl BrowserSurface {
    /// Whether a page believes that it is in this window.
    fn holds(&self, page: &PageElements) -> bool {
        let Some((x, y)) = page.corner else { return true };
        let corner = Pixel { x: x.round() as i32, y: y.round() as i32 };
        helmdeck_a11y::rect::contains(self.rect, corner)
    }
}
