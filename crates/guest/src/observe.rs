//! Watches the screen and the browser around an action, and reports its effect.
//!
//! ```text
//! begin ─▶ the action ─▶ settle ─▶ compare ─▶ effect ─▶ picture, hint, trace
//! ```
//!
//! Without options, an action takes none of these steps.

mod effect;
mod focus;
mod hint;
mod pictures;
mod places;
mod reply;
mod settling;
mod titles;
mod trace;

use std::{sync::Arc, time::Instant};

use axum::{
    body::to_bytes,
    http::{HeaderName, HeaderValue},
    response::{IntoResponse as _, Response},
};
use helmdeck_browser::{PageChanges, PageWatch, hashed};
use helmdeck_display::{
    Display,
    observe::{Canvas, Changes, MAX_REGIONS, Periodic, Rect, SeenWindows, merged},
};
use helmdeck_task::block_in_place;
use helmdeck_wire::{
    aim::Hit,
    browser::TabId,
    control::Hands,
    observe::{ActionOptions, Observation, Observe, PeriodicKind, PeriodicRegion, Settle},
    screen::header,
    vendor_size::SizeRule,
};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::join;

use self::{
    effect::{Act, ProgramFocus, Reported, Seen, Verdict},
    focus::FocusBefore,
    hint::repeats::{Action, Repeats},
    places::{carets, periodic},
    titles::Titles,
    trace::{ActionTrace, Crops},
};
pub use self::{
    focus::Owner,
    places::{canvas_of, periodic_on},
    trace::{Entry, Trace, follow_windows},
};
use crate::{
    aim::Aimed,
    begin::Guest,
    error::GuestError,
    json::{Json, unreadable},
};

/// What the observations of a session share.
#[derive(Clone, Default)]
pub struct Observed {
    repeats: Arc<Mutex<Repeats>>,
    titles: Arc<Mutex<Titles>>,
    /// Pictures of pages, in a session without a screen.
    pub pages: Arc<pictures::PageShots>,
}

/// The state before an action.
pub struct Watch {
    guest: Guest,
    name: &'static str,
    aimed: Aimed,
    action: Action,
    /// The hash of the text that the action types.
    types: Option<u32>,
    /// `None` if only the position was asked for.
    observing: Option<Observing>,
    /// Whether the screen became quiet before a picture.
    settled: Option<bool>,
}

/// An observation under way.
struct Observing {
    observe: Observe,
    /// How large the picture may be.
    size: Option<SizeRule>,
    settle: Settle,
    screen: Option<Screen>,
    page: Option<PageWatch>,
    /// The focus inside the active program.
    focus: Option<FocusBefore>,
    /// What was under the point, for the trace.
    under: Option<Hit>,
    /// The title of the visible tab, if it changes by itself.
    ticking: Option<String>,
    /// Whether the action starts a program.
    launches: bool,
    /// The page before, without a screen.
    before: Option<Arc<Canvas>>,
}

/// The screen before an action.
struct Screen {
    display: Display,
    watch: helmdeck_display::observe::Watch,
    windows: SeenWindows,
}

/// What was seen after an action.
struct After {
    settled: settling::Settled,
    changes: Option<Changes>,
    verdict: Verdict,
    page: Option<PageChanges>,
    windows: Option<SeenWindows>,
}

impl Observed {
    /// Notes that an action acted without being observed.
    pub fn unobserved(&self) {
        self.repeats.lock().forget();
        self.titles.lock().forget();
    }
}

impl Watch {
    /// Remembers the state before the action. An action that only takes a picture waits here.
    pub async fn begin(
        guest: &Guest,
        _hands: Hands,
        name: &'static str,
        options: &ActionOptions,
        aimed: &Aimed,
        value: &Value,
    ) -> Result<Self, GuestError> {
        let observe = options.observe.unwrap_or_default();
        let wanted = options.settle.is_some() || observe != Observe::None;
        let tab = value.get("tab").and_then(Value::as_str).map(|tab| TabId(tab.to_owned()));
        let settle = options.settle.unwrap_or_default();
        let (mut observing, mut settled) = (None, None);
        if wanted {
            let at = aimed.point.map(|point| (point.x, point.y));
            let act = Act { name, at, ..Act::default() };
            let mut state =
                Observing::begin(guest, observe, settle, tab.as_ref(), &act, aimed.found.is_none())
                    .await?;
            state.size = options.observe_for;
            if pictures::is_picture(name) {
                settled = Some(state.settle(Instant::now()).await?.settled);
            } else {
                observing = Some(state);
            }
        }
        let (guest, aimed) = (guest.clone(), aimed.clone());
        let action = Action::new(name, value);
        let text = value.get("text").and_then(Value::as_str);
        let types = text.filter(|_| matches!(name, "type" | "browser_type")).map(hashed);
        Ok(Self { guest, name, aimed, action, types, observing, settled })
    }

    /// Waits for a quiet screen, and adds the effect to the reply.
    pub async fn finish(
        self,
        response: Response,
        entry: Option<&Entry>,
    ) -> Result<Response, GuestError> {
        let ended = Instant::now();
        let Self { guest, name, aimed, action, types, observing, settled } = self;
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.map_err(|error| unreadable(&error))?;
        let Ok(Value::Object(mut reply)) = serde_json::from_slice(&body) else {
            let mut picture = Response::from_parts(parts, body.into());
            if let Some(settled) = settled {
                let name = HeaderName::from_static(header::SETTLED);
                let settled = HeaderValue::from_static(if settled { "true" } else { "false" });
                picture.headers_mut().insert(name, settled);
            }
            return Ok(picture);
        };
        // Actions on elements of pages say where these are on the screen.
        let on_page = reply.get("hit").and_then(|hit| hit.get("screen"));
        let on_page = on_page.and_then(|at| serde_json::from_value(at.clone()).ok());
        let aimed = Aimed { point: aimed.point.or(on_page), ..aimed };
        let mut observation =
            Observation { acted_at: aimed.point, hit: aimed.hit.clone(), ..Default::default() };
        let found = aimed.found.clone().or_else(|| reply::hit(&reply));
        let (mut traced, mut crops) = (observation.hit.clone(), None);
        if let Some(observing) = observing {
            let at = aimed.point.map(|point| (point.x, point.y));
            let act = Act { name, at, types };
            let reported = reply::reported(&reply, observing.page.is_some());
            let found = found.or_else(|| observing.under.clone());
            traced = found.clone();
            let seen = async {
                let after = observing.finish(&guest, ended, act, reported).await?;
                observing.describe(&guest, &after, &mut observation)?;
                Ok::<_, GuestError>(after)
            };
            match seen.await {
                Ok(after) => {
                    if observing.observe != Observe::None {
                        let hit = found.as_ref();
                        observation.hint = hint::of(&guest, &aimed, hit, action, &after).await;
                    }
                    crops = after.changes.as_ref().map(|changes| Crops {
                        before: changes.before.clone(),
                        after: changes.after.clone(),
                        regions: after.verdict.regions.clone(),
                        at: aimed.point,
                    });
                }
                // The action was done, so its reply is no error.
                Err(error) => observation.not_observed = Some(error.body().message),
            }
        }
        if let Some(entry) = entry {
            let traced = ActionTrace::of(&observation, traced);
            observation.trace = entry.observed(traced, crops);
        }
        if let Ok(Value::Object(more)) = serde_json::to_value(&observation) {
            reply::add(&mut reply, more);
        }
        Ok(Json(reply).into_response())
    }
}

impl Observing {
    async fn begin(
        guest: &Guest,
        observe: Observe,
        settle: Settle,
        tab: Option<&TabId>,
        act: &Act,
        looks: bool,
    ) -> Result<Self, GuestError> {
        let display = guest.screen()?;
        let page = async {
            match guest.browser() {
                Ok(browser) => browser.watch(tab).await,
                Err(_) => None,
            }
        };
        let focus = async {
            let display = display.as_ref().filter(|_| observe != Observe::None)?;
            FocusBefore::read(guest, display, act.at).await
        };
        let under = async {
            let looks = looks && display.is_some() && observe != Observe::None;
            let at = act.at.filter(|_| looks)?;
            hint::under(guest, at).await
        };
        let (page, focus, under) = join!(page, focus, under);
        let ticking = page.as_ref().and_then(PageWatch::title).and_then(|shown| {
            let ticks = guest.observed.titles.lock().ticks(&shown);
            ticks.then_some(shown.title)
        });
        let mut before = None;
        let screen = match display {
            Some(display) => {
                let windows = display.seen_windows().await?;
                // Last, so that nothing happens between it and the action.
                let watch = display.watch().await?;
                Some(Screen { display, watch, windows })
            }
            None => {
                if let Some(page) = page.as_ref().filter(|_| observe != Observe::None) {
                    before = canvas_of(page).await;
                }
                None
            }
        };
        let launches = act.name == "launch";
        let size = None;
        Ok(Self { observe, size, settle, screen, page, focus, under, ticking, launches, before })
    }

    /// Compares the state after the action with the one before.
    async fn finish(
        &self,
        guest: &Guest,
        ended: Instant,
        action: Act,
        reported: Reported,
    ) -> Result<After, GuestError> {
        let settled = self.settle(ended).await?;
        if self.observe == Observe::None {
            let changes = match &self.screen {
                Some(screen) => Some(screen.watch.changes(&self.given(), &[]).await?),
                None => None,
            };
            let verdict = Seen::default().verdict();
            return Ok(After { settled, changes, verdict, page: None, windows: None });
        }
        let page = async {
            match &self.page {
                Some(page) => Some(page.changes().await),
                None => None,
            }
        };
        let focus = async {
            match &self.focus {
                Some(focus) => focus.compare(guest).await,
                None => ProgramFocus::default(),
            }
        };
        let (page, focus) = join!(page, focus);
        let given = self.given();
        let (changes, windows) = match &self.screen {
            Some(screen) => {
                let windows = screen.display.seen_windows().await?;
                (Some(screen.watch.changes(&given, &[]).await?), Some(windows))
            }
            None => (self.page_changes(&given).await, None),
        };
        let before = self.screen.as_ref().map(|screen| screen.windows.clone());
        let seen = Seen {
            action,
            regions: changes.as_ref().map(|changes| changes.regions.clone()).unwrap_or_default(),
            windows: before.zip(windows.clone()),
            page: page.clone(),
            reported,
            focus,
            carets: changes.iter().flat_map(|changes| carets(&changes.periodic)).collect(),
            ticking: self.ticking.clone(),
        };
        guest.observed.titles.lock().shown(page.as_ref().and_then(|page| page.title.clone()));
        Ok(After { settled, changes, verdict: seen.verdict(), page, windows })
    }

    /// The periodic places that the page knows.
    fn given(&self) -> Vec<Periodic> {
        self.page.as_ref().map(periodic_on).unwrap_or_default()
    }

    /// What changed on the page, in a session without a screen.
    async fn page_changes(&self, given: &[Periodic]) -> Option<Changes> {
        let before = self.before.clone()?;
        let after = canvas_of(self.page.as_ref()?).await?;
        let ignored: Vec<Rect> = given.iter().map(|place| place.rect).collect();
        let regions = block_in_place(|| before.difference(&after, &ignored));
        let regions = merged(regions, MAX_REGIONS);
        Some(Changes { regions, periodic: given.to_vec(), left_out: ignored, before, after })
    }

    /// Describes what was seen.
    fn describe(
        &self,
        guest: &Guest,
        after: &After,
        observation: &mut Observation,
    ) -> Result<(), GuestError> {
        observation.settled = Some(after.settled.settled);
        observation.settle_ms = Some(after.settled.ms());
        let verdict = &after.verdict;
        let Some(changes) = &after.changes else {
            if self.observe != Observe::None {
                observation.effect = Some(verdict.effect);
                observation.effects = verdict.effects.clone();
            }
            return Ok(());
        };
        observation.periodic = changes.periodic.iter().map(periodic).collect();
        if self.observe == Observe::None {
            return Ok(());
        }
        let clock = |rect: &Rect| PeriodicRegion {
            rect: (*rect).into(),
            period_ms: 60_000,
            kind: PeriodicKind::Clock,
        };
        observation.periodic.extend(verdict.in_panels.iter().map(clock));
        observation.changed = Some(!verdict.regions.is_empty());
        observation.regions = verdict.regions.iter().map(|rect| (*rect).into()).collect();
        observation.effect = Some(verdict.effect);
        observation.effects = verdict.effects.clone();
        observation.text_entered = verdict.text_entered.then_some(true);
        let ignored: Vec<Rect> = changes
            .periodic
            .iter()
            .map(|place| place.rect)
            .chain(verdict.in_panels.clone())
            .collect();
        // The reply says it all.
        let telling: &[Rect] = if verdict.text_entered { &[] } else { &verdict.telling };
        let (regions, size) = (&verdict.regions, self.size);
        let shown = pictures::Shown { changes, regions, telling, ignored: &ignored, size };
        let display = self.screen.as_ref().map(|screen| &screen.display);
        block_in_place(|| shown.add(self.observe, display, &guest.observed.pages, observation))?;
        Ok(())
    }
}
