//! The elements of a page with their places, what is at a point, and where an element is.
//!
//! A script in each frame lists them (`elements.js`), by the same rules by which selectors find
//! elements. Reading never answers a dialog, and changes nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use helmdeck_cdp::CdpError;
use helmdeck_wire::browser::{Selector, TabId};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    Browser, BrowserError,
    hit_test::Spot,
    locate::{Ask, Want},
    page::Frame,
    page_action::PageAction,
    running::Running,
    view::View,
    world::Outcome,
};

/// Limit on frames that are read.
const MAX_FRAMES: usize = 50;
/// Limit on elements of one frame.
const MAX_ELEMENTS: usize = 5000;
/// A frame inside a frame inside a frame …
const MAX_DEPTH: usize = 10;

/// The elements of a page.
#[derive(Debug, Clone, Default)]
pub struct PageElements {
    /// Its tab.
    pub tab: Option<TabId>,
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Whether its tab is in the background.
    pub hidden: bool,
    /// The size of the viewport in screen pixels.
    pub size: (f64, f64),
    /// The upper left corner of the viewport on the screen, as the page sees it.
    pub corner: Option<(f64, f64)>,
    /// Screen pixels per pixel of the page.
    pub scale: f64,
    /// Whether it has more elements than the limit.
    pub truncated: bool,
    /// The elements, parents before children.
    pub elements: Vec<PageElement>,
}

/// An element of a page.
#[derive(Debug, Clone, Default)]
pub struct PageElement {
    /// Its ref.
    pub reference: String,
    /// The index of the element that contains it.
    pub parent: Option<usize>,
    /// Its role.
    pub role: String,
    /// Its name or text.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its states.
    pub states: Vec<String>,
    /// Left, top, width and height in the viewport, in screen pixels.
    pub rect: [f64; 4],
    /// Whether it can be seen.
    pub exposure: Exposure,
}

/// Whether an element can be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exposure {
    /// At least a part of it.
    #[default]
    Visible,
    /// It is scrolled out of view.
    Away,
    /// Something else is drawn over it.
    Covered,
}

/// What is at a point of a page.
#[derive(Debug, Clone, Default)]
pub struct PageHit {
    /// Its tag.
    pub tag: String,
    /// Its role.
    pub role: String,
    /// Its name or text.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its states.
    pub states: Vec<String>,
    /// Left, top, width and height in the viewport, in screen pixels.
    pub rect: [f64; 4],
    /// A selector that finds it.
    pub selector: String,
    /// Whether it matches the selector that was asked about.
    pub selected: Option<bool>,
    /// The address of its document.
    pub url: String,
}

/// A tab of the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownTab {
    /// Its id.
    pub id: TabId,
    /// The title of its page.
    pub title: String,
}

type Row = (String, Option<usize>, String, String, String, Vec<String>, [f64; 4], Exposure);

/// A frame's answer.
#[derive(Deserialize)]
struct Listed {
    list: Vec<Row>,
    truncated: bool,
    url: String,
    title: String,
    hidden: bool,
    width: f64,
    height: f64,
    view: View,
}

#[derive(Deserialize)]
struct At {
    tag: String,
    role: String,
    name: String,
    value: String,
    states: Vec<String>,
    rect: [f64; 4],
    selector: String,
    selected: Option<bool>,
    /// The place of the frame that is there.
    frame: Option<[f64; 4]>,
    url: String,
}

impl Browser {
    /// The tabs of the session's own browser.
    pub async fn own_tabs(&self, within: Duration) -> Result<Vec<ShownTab>, BrowserError> {
        self.ensure_public()?;
        let running = self.own(Instant::now() + within).await?;
        let tabs = running.known.tabs.lock().list().into_iter();
        Ok(tabs.map(|tab| ShownTab { id: tab.id, title: tab.title }).collect())
    }

    /// The elements of a tab; defaults to the active one. Of long texts, the part with `wanted`, in
    /// lower case, is listed. Waits no longer than `within`.
    pub async fn elements(
        &self,
        tab: Option<&TabId>,
        wanted: Option<&str>,
        within: Duration,
    ) -> Result<PageElements, BrowserError> {
        let action = self.look(tab, Instant::now() + within).await?;
        action.elements(&json!({ "most": MAX_ELEMENTS, "wanted": wanted })).await
    }

    /// The same, without elements if the tab is in the background; with `in_view`, without those
    /// that are scrolled out of view.
    pub async fn shown_elements(
        &self,
        tab: &TabId,
        in_view: bool,
        wanted: Option<&str>,
        within: Duration,
    ) -> Result<PageElements, BrowserError> {
        let action = self.look(Some(tab), Instant::now() + within).await?;
        let most = MAX_ELEMENTS;
        let wanted = json!({ "most": most, "shown": true, "inView": in_view, "wanted": wanted });
        action.elements(&wanted).await
    }

    /// What is at a point of the viewport of a tab, in screen pixels, and whether it matches a CSS
    /// selector.
    pub async fn element_at(
        &self,
        tab: &TabId,
        at: (f64, f64),
        selector: Option<&str>,
        within: Duration,
    ) -> Result<Option<PageHit>, BrowserError> {
        self.look(Some(tab), Instant::now() + within).await?.element_at(at, selector).await
    }

    /// Scrolls to an element, waits until a click would reach it, and returns the point to click in
    /// the viewport, in screen pixels.
    pub async fn reach(
        &self,
        tab: &TabId,
        reference: &str,
        within: Duration,
    ) -> Result<(f64, f64), BrowserError> {
        let action = self.look(Some(tab), Instant::now() + within).await?;
        let spot = action.reach(&Selector::Ref(reference.to_owned())).await?;
        let scale = action.view().await.scale();
        Ok((spot.x * scale, spot.y * scale))
    }

    /// The tab that a window with this title shows, if one does.
    pub async fn shown_tab(
        &self,
        title: &str,
        within: Duration,
    ) -> Result<Option<TabId>, BrowserError> {
        let deadline = Instant::now() + within;
        let mut tabs = self.own_tabs(within).await?;
        tabs.sort_by_key(|tab| {
            let fits = !tab.title.is_empty() && title.starts_with(&tab.title);
            std::cmp::Reverse(if fits { tab.title.len() } else { 0 })
        });
        for tab in tabs {
            let action = self.look(Some(&tab.id), deadline).await?;
            let argument = json!({ "most": 0, "shown": true });
            let main = action.page.main()?;
            if !action.run_in::<Listed>(&main, "elements", argument).await?.hidden {
                return Ok(Some(tab.id));
            }
        }
        Ok(None)
    }

    /// What a selector finds, as soon as it is there, and whether it matches a CSS selector.
    pub async fn describe(
        &self,
        tab: Option<&TabId>,
        selector: &Selector,
        matches: Option<&str>,
        within: Duration,
    ) -> Result<PageHit, BrowserError> {
        let action = self.look(tab, Instant::now() + within).await?;
        let arguments = json!({ "matches": matches });
        let ask = Ask { selector, want: Want::Attached, doing: "describe", arguments };
        let found = action.find(&ask).await?;
        let described = found.answer.described.unwrap_or_default();
        let at: At = serde_json::from_value(described).map_err(CdpError::Nonsense)?;
        let scale = action.view().await.scale();
        let origin = action.origin(&found.frame).await?;
        Ok(at.hit(origin, scale))
    }

    /// Begins to read a tab. Nothing is opened, activated or answered.
    async fn look(
        &self,
        tab: Option<&TabId>,
        deadline: Instant,
    ) -> Result<PageAction, BrowserError> {
        let running = self.looking(tab, deadline).await?;
        let page = running.shown(tab, deadline).await?;
        if page.with(|state| state.crashed) {
            return Err(BrowserError::PageGone);
        }
        PageAction::begin_looking(running, page, deadline)
    }

    /// The browser with this tab: the session's own, or the current one.
    async fn looking(
        &self,
        tab: Option<&TabId>,
        deadline: Instant,
    ) -> Result<Arc<Running>, BrowserError> {
        self.ensure_public()?;
        if let Some(tab) = tab
            && let Ok(own) = self.own(deadline).await
            && own.find(tab).is_ok()
        {
            return Ok(own);
        }
        self.watched(deadline).await
    }

    /// Fails during a private sign-in.
    fn ensure_public(&self) -> Result<(), BrowserError> {
        match &*self.shared.private.borrow() {
            Some(sign_in) => Err(BrowserError::Private { by: sign_in.by.clone() }),
            None => Ok(()),
        }
    }
}

impl PageAction {
    async fn elements(&self, wanted: &Value) -> Result<PageElements, BrowserError> {
        let frames = self.page.frames();
        let reading = frames.iter().take(MAX_FRAMES).map(|frame| self.listed(frame, wanted));
        let mut read = join_all(reading).await.into_iter();
        let Some(main) = read.next() else { return Err(BrowserError::PageGone) };
        let (_, main) = main?;
        let scale = main.view.scale();
        let mut page = PageElements {
            tab: Some(self.page.tab().clone()),
            url: main.url,
            title: main.title,
            hidden: main.hidden,
            size: (main.width * scale, main.height * scale),
            corner: main.view.corner(),
            scale,
            truncated: main.truncated,
            elements: Vec::new(),
        };
        add(&mut page, main.list, Spot::default(), None);
        // A frame that disappears meanwhile is left out.
        for (origin, listed) in read.flatten() {
            let view = [origin.x, origin.y, listed.width, listed.height];
            page.truncated |= listed.truncated;
            add(&mut page, listed.list, origin, Some(view));
        }
        Ok(page)
    }

    /// The elements of a frame, and where the frame begins on the page.
    async fn listed(&self, frame: &Frame, wanted: &Value) -> Result<(Spot, Listed), BrowserError> {
        let listed = self.run_in(frame, "elements", wanted.clone()).await?;
        Ok((self.origin(frame).await?, listed))
    }

    async fn run_in<T: DeserializeOwned>(
        &self,
        frame: &Frame,
        function: &str,
        argument: Value,
    ) -> Result<T, BrowserError> {
        match self.page.run::<T>(frame, function, argument, self.deadline).await? {
            Outcome::Value(value) => Ok(value),
            Outcome::Left => Err(BrowserError::PageGone),
        }
    }

    async fn element_at(
        &self,
        at: (f64, f64),
        selector: Option<&str>,
    ) -> Result<Option<PageHit>, BrowserError> {
        let scale = self.view().await.scale();
        let point = Spot { x: at.0 / scale, y: at.1 / scale };
        let frames = self.page.frames();
        let Some(mut frame) = frames.first() else { return Err(BrowserError::PageGone) };
        let mut origin = Spot::default();
        for _ in 0..MAX_DEPTH {
            let argument = json!({
                "x": point.x - origin.x, "y": point.y - origin.y, "selector": selector,
            });
            let Some(hit) = self.run_in::<Option<At>>(frame, "at", argument).await? else {
                return Ok(None);
            };
            let inner = match hit.frame {
                Some(place) => self.frame_at(&frames, frame, origin, place).await,
                None => None,
            };
            let Some((inner, inner_origin)) = inner else {
                return Ok(Some(hit.hit(origin, scale)));
            };
            (frame, origin) = (inner, inner_origin);
        }
        Ok(None)
    }

    /// The frame that is shown at this place of its parent.
    async fn frame_at<'a>(
        &self,
        frames: &'a [Frame],
        parent: &Frame,
        origin: Spot,
        [x, y, width, height]: [f64; 4],
    ) -> Option<(&'a Frame, Spot)> {
        for frame in frames.iter().filter(|frame| frame.parent.as_ref() == Some(&parent.id)) {
            let Ok(corner) = self.origin(frame).await else { continue };
            let (left, top) = (corner.x - origin.x, corner.y - origin.y);
            if (x..x + width).contains(&left) && (y..y + height).contains(&top) {
                return Some((frame, corner));
            }
        }
        None
    }

    /// Where a frame begins on the page.
    async fn origin(&self, frame: &Frame) -> Result<Spot, BrowserError> {
        let steps = self.steps_of(frame, Spot::default()).await?;
        Ok(steps.last().map_or(Spot::default(), |step| step.at))
    }
}

impl At {
    /// The element in the viewport of the page, for a frame that begins at `origin`.
    fn hit(self, origin: Spot, scale: f64) -> PageHit {
        let Self { tag, role, name, value, states, selector, selected, url, .. } = self;
        let [x, y, width, height] = self.rect;
        let rect = [x + origin.x, y + origin.y, width, height].map(|it| it * scale);
        PageHit { tag, role, name, value, states, rect, selector, selected, url }
    }
}

fn add(page: &mut PageElements, rows: Vec<Row>, origin: Spot, view: Option<[f64; 4]>) {
    let first = page.elements.len();
    for (reference, parent, role, name, value, states, [x, y, width, height], exposure) in rows {
        let (x, y) = (x + origin.x, y + origin.y);
        // What a frame does not show is not visible, whatever the frame says.
        let outside = view.is_some_and(|[left, top, across, down]| {
            x >= left + across || y >= top + down || x + width <= left || y + height <= top
        });
        let exposure = if outside { Exposure::Away } else { exposure };
        page.elements.push(PageElement {
            reference,
            parent: parent.map(|parent| parent + first),
            role,
            name,
            value,
            states,
            rect: [x, y, width, height].map(|it| it * page.scale),
            exposure,
        });
    }
}
