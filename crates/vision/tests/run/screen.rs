//! A scripted screen and a scripted model.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use helmdeck_vision::{
    Action, Dialect, Place,
    eyes::{
        Acted, Eyes, Failure, Model, ModelFailure, Reply, Scene, SceneWindow, Seen, Shot, Spent,
        Success,
    },
};
use helmdeck_wire::{
    aim::{Hit, Source},
    guest::RefusedSites,
    observe::{Effect, Observation, ObservedPicture, ShotId},
    point::{Pixel, Rect},
    site::Site,
    tree::Candidate,
    vendor_size::SizeRule,
    verify::{Check, Evidence, Verified},
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::sleep;

pub const WIDTH: u32 = 1280;
pub const HEIGHT: u32 = 800;

/// Something on the screen, and what a click on it does.
#[derive(Debug, Clone)]
pub struct Thing {
    pub role: &'static str,
    pub name: &'static str,
    pub rect: Rect,
    pub effect: Effect,
    /// Text that is on the screen after the click.
    pub shows: &'static str,
    /// Address of the page after the click.
    pub opens: Option<&'static str>,
    /// Whether it is a box that is checked, or not. A click changes it.
    pub checked: Option<bool>,
    pub off_screen: bool,
}

pub fn label(name: &'static str, x: i32, y: i32) -> Thing {
    Thing { role: "text", ..button(name, x, y) }
}

/// The picture that a size has here.
fn data((width, height): (u32, u32)) -> String {
    format!("iVBORw0KGgo={width}x{height};")
}

pub fn button(name: &'static str, x: i32, y: i32) -> Thing {
    Thing {
        role: "button",
        name,
        rect: Rect { x, y, width: 24, height: 20 },
        effect: Effect::Confirmed,
        shows: "saved",
        opens: None,
        checked: None,
        off_screen: false,
    }
}

pub fn checkbox(name: &'static str, checked: bool, x: i32, y: i32) -> Thing {
    Thing { role: "checkbox", checked: Some(checked), ..button(name, x, y) }
}

#[derive(Default)]
pub struct State {
    pub text: String,
    pub url: String,
    pub typed: String,
    pub clicks: Vec<Pixel>,
    /// Boxes that were clicked.
    pub toggled: Vec<&'static str>,
    /// How often the screen cannot be read from now on.
    pub unreadable: usize,
    pub statuses: Vec<String>,
    pub looks: usize,
    /// How the next actions fail.
    pub failures: Vec<Failure>,
    /// The sites that the browser may open.
    pub sites: Option<Vec<Site>>,
    pub refused: Vec<String>,
    /// How often they were limited, and whether that fails.
    pub limits: usize,
    pub cannot_limit: bool,
    /// The limit after which a download begins.
    pub download_after: Option<usize>,
    /// Where the page is when it is looked at next, from the last to the first.
    pub moves: Vec<&'static str>,
}

/// The screen. It knows what was really done to it: that is the oracle.
#[derive(Default)]
pub struct Screen {
    pub things: Vec<Thing>,
    /// Whether programs tell their elements.
    pub accessible: bool,
    pub state: Mutex<State>,
    pub decision: Option<bool>,
    /// How long each pause lasts, and a person takes to decide.
    pub waits: Duration,
}

impl Screen {
    pub fn new(things: Vec<Thing>) -> Self {
        let screen = Self { things, accessible: true, ..Self::default() };
        screen.state.lock().url = "https://shop.test/".to_owned();
        screen
    }

    pub fn text(&self) -> String {
        self.state.lock().text.clone()
    }

    fn thing(&self, at: Pixel) -> Option<&Thing> {
        self.things.iter().find(|thing| {
            let (x, y) = (at.x - thing.rect.x, at.y - thing.rect.y);
            x >= 0 && y >= 0 && x < thing.rect.width as i32 && y < thing.rect.height as i32
        })
    }

    fn states(thing: &Thing, state: &State) -> Vec<String> {
        let clicks = state.toggled.iter().filter(|name| **name == thing.name).count();
        let checked = thing.checked.is_some_and(|checked| checked ^ (clicks % 2 == 1));
        checked.then(|| "checked".to_owned()).into_iter().collect()
    }

    fn candidates(&self, is_it: impl Fn(&Thing) -> bool) -> Vec<Candidate> {
        let state = self.state.lock();
        let candidate = |thing: &Thing| Candidate {
            role: thing.role.to_owned(),
            name: thing.name.to_owned(),
            rect: thing.rect,
            states: Self::states(thing, &state),
            off_screen: thing.off_screen,
            confidence: 1.0,
            source: Source::Accessibility,
            ..Candidate::default()
        };
        let things = self.things.iter().filter(|thing| is_it(thing));
        if self.accessible { things.map(candidate).collect() } else { Vec::new() }
    }

    fn do_it(&self, action: &Action, picture: bool) -> Result<Observation, Failure> {
        let mut state = self.state.lock();
        if let Some(failure) = state.failures.pop() {
            return Err(failure);
        }
        let none = Observation {
            changed: Some(false),
            effect: Some(Effect::NoVisibleChange),
            ..Observation::default()
        };
        match action {
            Action::Click { at: Some(Place::At(at)), .. } => {
                state.clicks.push(*at);
                let Some(thing) = self.thing(*at) else { return Ok(none) };
                state.text.push_str(thing.shows);
                if let Some(url) = thing.opens {
                    let site = Site::of(url).unwrap();
                    let inside = |sites: &Vec<Site>| sites.iter().any(|own| own.covers(&site));
                    if !state.sites.as_ref().is_none_or(inside) {
                        state.refused.push(url.to_owned());
                        return Ok(none);
                    }
                    state.url = url.to_owned();
                }
                let (role, name) = (thing.role.to_owned(), thing.name.to_owned());
                let hit = Hit { role, name, states: Self::states(thing, &state), ..Hit::default() };
                state.toggled.extend(thing.checked.map(|_| thing.name));
                let changed = thing.effect != Effect::NoVisibleChange;
                let seen = ObservedPicture {
                    id: ShotId("shot-change".to_owned()),
                    media_type: "image/png".to_owned(),
                    data: data((thing.rect.width, thing.rect.height)),
                    rect: thing.rect,
                    scale: 1.0,
                };
                Ok(Observation {
                    picture: (changed && picture).then_some(seen),
                    changed: Some(changed),
                    effect: Some(thing.effect),
                    effects: vec![thing.effect],
                    hit: Some(hit),
                    acted_at: Some(*at),
                    ..Observation::default()
                })
            }
            Action::Type { text } => {
                state.typed.push_str(text);
                let effects = vec![Effect::ValueChanged];
                Ok(Observation { changed: Some(true), effects, ..Observation::default() })
            }
            _ => Ok(none),
        }
    }
}

impl Eyes for Screen {
    fn look(&self, rule: SizeRule) -> Seen<'_, Shot> {
        async move {
            let mut state = self.state.lock();
            state.looks += 1;
            let rect = Rect { x: 0, y: 0, width: WIDTH, height: HEIGHT };
            let id = format!("shot-{}", state.looks);
            let (media_type, size) = ("image/png".to_owned(), rule.size(WIDTH, HEIGHT));
            Ok(Shot { id, media_type, data: data(size).into(), size, rect })
        }
        .boxed()
    }

    fn zoom(&self, region: Rect) -> Seen<'_, Shot> {
        self.crop(region, (800, 500))
    }

    fn crop(&self, region: Rect, size: (u32, u32)) -> Seen<'_, Shot> {
        let (id, media_type) = ("shot-zoom".to_owned(), "image/png".to_owned());
        let shot = Shot { id, media_type, data: data(size).into(), size, rect: region };
        async move { Ok(shot) }.boxed()
    }

    fn act<'a>(&'a self, action: &'a Action, picture: bool) -> Seen<'a, Acted> {
        async move { Ok(Acted { observation: self.do_it(action, picture)?, text: None }) }.boxed()
    }

    fn find<'a>(&'a self, name: &'a str) -> Seen<'a, Vec<Candidate>> {
        let wanted = name.to_lowercase();
        let found = self.candidates(|thing| thing.name.to_lowercase().contains(&wanted));
        async move { Ok(found) }.boxed()
    }

    fn usable(&self, _: Pixel) -> Seen<'_, Vec<Candidate>> {
        let found = self.candidates(|thing| thing.role != "text");
        async move { Ok(found) }.boxed()
    }

    fn verify<'a>(&'a self, success: &'a Success, _: u32) -> Seen<'a, Verified> {
        async move {
            let text = self.text();
            let evidence = success.all.iter().enumerate().map(|(at, condition)| {
                assert_eq!(condition.check, Check::TextVisible);
                let wanted = condition.text.clone().unwrap_or_default();
                let holds = text.contains(&wanted);
                let found =
                    if holds { format!("text {wanted:?}") } else { "no such text".to_owned() };
                Evidence { condition: format!("all[{at}]"), check: condition.check, holds, found }
            });
            let evidence: Vec<_> = evidence.collect();
            let holds = evidence.iter().all(|one| one.holds);
            Ok(Verified { holds, evidence, failed: Vec::new(), duration_ms: 1 })
        }
        .boxed()
    }

    fn scene(&self) -> Seen<'_, Scene> {
        async move {
            let mut state = self.state.lock();
            if state.unreadable > 0 {
                state.unreadable -= 1;
                return Err(Failure::Bad("no picture".to_owned()));
            }
            if let Some(url) = state.moves.pop() {
                state.url = url.to_owned();
            }
            let window = SceneWindow {
                title: "Shop".to_owned(),
                class: "Chromium".to_owned(),
                url: Some(state.url.clone()),
                rect: Rect { x: 0, y: 0, width: WIDTH, height: HEIGHT },
                focused: true,
                browser: true,
                ..SceneWindow::default()
            };
            Ok(Scene { windows: vec![window], focus: None })
        }
        .boxed()
    }

    fn limit_sites(&self, sites: Option<Vec<Site>>) -> Seen<'_, RefusedSites> {
        let mut state = self.state.lock();
        state.limits += 1;
        if state.cannot_limit {
            return async { Err(Failure::Bad("no answer".to_owned())) }.boxed();
        }
        state.sites = sites;
        let downloads = u64::from(state.download_after.is_some_and(|after| state.limits > after));
        if downloads > 0 {
            state.download_after = None;
        }
        let urls = std::mem::take(&mut state.refused);
        async move { Ok(RefusedSites { urls, downloads }) }.boxed()
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        sleep(self.waits).boxed()
    }

    fn tell<'a>(&'a self, status: &'a str) -> BoxFuture<'a, ()> {
        self.state.lock().statuses.push(status.to_owned());
        async {}.boxed()
    }

    fn confirm<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<bool>> {
        async move {
            sleep(self.waits).await;
            self.decision
        }
        .boxed()
    }
}

type Policy = Box<dyn Fn(usize) -> ModelAnswer + Send + Sync>;

/// What a scripted model says.
pub enum ModelAnswer {
    Do(Vec<Action>),
    Done(&'static str),
    Raw(Value),
    Fail(ModelFailure),
}

/// A model that says what a script tells it, in a dialect.
pub struct Script {
    pub dialect: Dialect,
    pub policy: Policy,
    pub asked: AtomicUsize,
    pub bodies: Arc<Mutex<Vec<Value>>>,
}

pub fn script(
    dialect: Dialect,
    policy: impl Fn(usize) -> ModelAnswer + Send + Sync + 'static,
) -> Script {
    Script { dialect, policy: Box::new(policy), asked: AtomicUsize::new(0), bodies: Arc::default() }
}

impl Model for Script {
    fn id(&self) -> &str {
        "test/model"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn ask(&self, body: Value) -> BoxFuture<'_, Result<Reply, ModelFailure>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        self.bodies.lock().push(body);
        let rule = self.dialect.size_rule();
        let view = self.dialect.view((WIDTH, HEIGHT), rule.size(WIDTH, HEIGHT));
        let spent = Spent {
            input_tokens: 100,
            output_tokens: 10,
            cost_usd: Some(0.001),
            ..Spent::default()
        };
        let written = |action: &Action| {
            self.dialect
                .write(&format!("c{turn}"), action, &view)
                .expect("an action of the dialect")
        };
        let body = match (self.policy)(turn) {
            ModelAnswer::Do(actions) => {
                let parts: Vec<_> = actions.iter().map(written).collect();
                Ok(self.dialect.reply("I see it.", &parts))
            }
            ModelAnswer::Done(text) => match self.dialect {
                Dialect::UiTars(_) | Dialect::JsonText => {
                    let done = written(&Action::Done { text: text.to_owned() });
                    Ok(self.dialect.reply("", &[done]))
                }
                _ => Ok(self.dialect.reply(text, &[])),
            },
            ModelAnswer::Raw(value) => Ok(value),
            ModelAnswer::Fail(failure) => Err(failure),
        };
        async move { Ok(Reply { body: body?, spent }) }.boxed()
    }
}

pub fn visible(text: &str) -> Success {
    serde_json::from_value(json!({ "all": [{ "check": "text_visible", "text": text }] })).unwrap()
}
