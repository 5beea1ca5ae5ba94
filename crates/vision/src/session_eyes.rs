//! The screen of a session.

mod written;

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures_util::{FutureExt, future::BoxFuture};
use helmdeck_sessions::{Caller, Reply, Session, SessionError};
use helmdeck_wire::{
    Action as _, ActionCall, ErrorCode,
    guest::RefusedSites,
    observe::Observation,
    point::{Pixel, Rect},
    pointer::{CursorPosition, Modifier},
    screen::{Screenshot, Zoom, header},
    site::Site,
    tree::{Candidate, Find, ReadTree, Tree},
    vendor_size::SizeRule,
    verify::{Verified, Verify},
};
use http::HeaderMap;
use parking_lot::Mutex;
use serde_json::json;

use crate::{
    action::Action,
    eyes::{Acted, Eyes, Failure, Scene, SceneWindow, Seen, Shot, Success},
    keys,
};

/// Elements that `Read` lists.
const LISTED: u32 = 100;

/// The screen of a session, as a caller uses it.
pub struct SessionEyes {
    session: Session,
    caller: Caller,
    /// Keys that a model holds down. They are held during each action that follows.
    held: Mutex<Vec<Modifier>>,
    /// Whether the sites are limited.
    limited: AtomicBool,
    /// Whose limit it is.
    owner: String,
}

impl SessionEyes {
    /// The screen of a session.
    pub fn new(session: Session, caller: Caller) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let owner = format!("run-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Self { session, caller, held: Mutex::default(), limited: AtomicBool::new(false), owner }
    }

    /// Performs an action; every action of a session has a deadline.
    async fn send(&self, call: &ActionCall) -> Result<Reply, Failure> {
        self.session.act(&self.caller, call).await.map_err(failure)
    }

    async fn picture(&self, call: ActionCall) -> Result<Shot, Failure> {
        let reply = self.send(&call).await?;
        shot(&reply).ok_or_else(|| Failure::Bad("the picture has no size".to_owned()))
    }

    /// A picture of a part of the screen, which fits into a square.
    async fn part(&self, region: Rect, fit: Option<u32>) -> Result<Shot, Failure> {
        let far = |start: i32, side: u32| start.saturating_add(i32::try_from(side).unwrap_or(0));
        let mut fields = json!({
            "x1": region.x, "y1": region.y,
            "x2": far(region.x, region.width), "y2": far(region.y, region.height),
        });
        if let (Some(fit), Some(fields)) = (fit, fields.as_object_mut()) {
            fields.insert("fit".to_owned(), fit.into());
        }
        let call = Zoom::call(fields).map_err(|invalid| Failure::Bad(invalid.to_string()))?;
        self.picture(call).await
    }

    async fn pointer(&self) -> Result<Pixel, Failure> {
        let at = self.session.call(&self.caller, &CursorPosition {}).await.map_err(failure)?;
        Ok(Pixel { x: at.x.0, y: at.y.0 })
    }

    async fn tree(&self) -> Result<Tree, Failure> {
        self.session.call(&self.caller, &ReadTree::default()).await.map_err(failure)
    }

    async fn candidates(&self, find: &Find) -> Result<Vec<Candidate>, Failure> {
        let found = self.session.call(&self.caller, find).await.map_err(failure)?;
        Ok(found.candidates)
    }

    async fn do_it(&self, action: &Action, picture: bool) -> Result<Acted, Failure> {
        let said = |text: String| Acted { text: Some(text), ..Acted::default() };
        match action {
            Action::Screenshot
            | Action::Zoom { .. }
            | Action::Done { .. }
            | Action::AskUser { .. } => Ok(Acted::default()),
            Action::CursorPosition => {
                let Pixel { x, y } = self.pointer().await?;
                Ok(said(format!("The pointer is at {x},{y}.")))
            }
            Action::Read | Action::Find { .. } => {
                let text = match action {
                    Action::Find { text } => Some(text.clone()),
                    _ => None,
                };
                let find = Find { text, limit: Some(LISTED), ..Find::default() };
                let found = self.candidates(&find).await?;
                Ok(said(found.iter().map(listed).collect::<Vec<_>>().join("\n")))
            }
            Action::KeyDown { key } | Action::KeyUp { key } => {
                let down = matches!(action, Action::KeyDown { .. });
                match keys::modifiers([key.as_str()]) {
                    Ok(modifiers) => {
                        let mut held = self.held.lock();
                        held.retain(|one| !modifiers.contains(one));
                        if down {
                            held.extend(modifiers);
                        }
                        Ok(Acted::default())
                    }
                    // A key that is no modifier is pressed once.
                    Err(_) if down => self.drive(&Action::key(key), picture).await,
                    Err(_) => Ok(Acted::default()),
                }
            }
            _ => self.drive(action, picture).await,
        }
    }

    async fn drive(&self, action: &Action, picture: bool) -> Result<Acted, Failure> {
        let held = self.held.lock().clone();
        let needs_pointer = match action {
            Action::Click { at, .. } => at.is_none(),
            Action::Drag { path, .. } => path.len() < 2,
            _ => false,
        };
        let pointer = if needs_pointer { Some(self.pointer().await?) } else { None };
        let mut acted = Acted::default();
        for written in written::calls(action, &held, pointer, picture) {
            let call = written.map_err(|invalid| Failure::Bad(invalid.to_string()))?;
            let reply = self.send(&call).await?;
            let seen: Observation = serde_json::from_slice(&reply.body).unwrap_or_default();
            acted.observation = merged(acted.observation, seen);
        }
        Ok(acted)
    }
}

/// A run that was cancelled leaves no limit behind.
impl Drop for SessionEyes {
    fn drop(&mut self) {
        if self.limited.load(Ordering::Relaxed) {
            let (session, owner) = (self.session.clone(), self.owner.clone());
            let caller = self.caller.clone();
            // If it fails, the limit ends after some minutes.
            helmdeck_task::spawn(async move {
                session.limit_sites(&caller, &owner, None).await.is_ok()
            });
        }
    }
}

impl Eyes for SessionEyes {
    fn limit_sites(&self, sites: Option<Vec<Site>>) -> Seen<'_, RefusedSites> {
        self.limited.store(sites.is_some(), Ordering::Relaxed);
        async move {
            let limited = self.session.limit_sites(&self.caller, &self.owner, sites).await;
            limited.map_err(failure)
        }
        .boxed()
    }

    fn look(&self, rule: SizeRule) -> Seen<'_, Shot> {
        let screenshot = Screenshot { size_rule: Some(rule), ..Screenshot::default() };
        self.picture(ActionCall::new(&screenshot)).boxed()
    }

    fn zoom(&self, region: Rect) -> Seen<'_, Shot> {
        self.part(region, None).boxed()
    }

    fn crop(&self, region: Rect, (width, height): (u32, u32)) -> Seen<'_, Shot> {
        self.part(region, Some(width.max(height).clamp(16, Zoom::FIT))).boxed()
    }

    fn act<'a>(&'a self, action: &'a Action, picture: bool) -> Seen<'a, Acted> {
        self.do_it(action, picture).boxed()
    }

    fn find<'a>(&'a self, name: &'a str) -> Seen<'a, Vec<Candidate>> {
        async move {
            let name = Some(name.to_owned());
            self.candidates(&Find { name, ocr: false, ..Find::default() }).await
        }
        .boxed()
    }

    fn usable(&self, near: Pixel) -> Seen<'_, Vec<Candidate>> {
        let find = Find { near: Some(near), ocr: false, ..Find::default() };
        async move { self.candidates(&find).await }.boxed()
    }

    fn verify<'a>(&'a self, success: &'a Success, within_ms: u32) -> Seen<'a, Verified> {
        async move {
            let Success { all, any } = success.clone();
            let verify = Verify { all, any, within_ms };
            self.session.call(&self.caller, &verify).await.map_err(failure)
        }
        .boxed()
    }

    fn scene(&self) -> Seen<'_, Scene> {
        async move {
            let tree = self.tree().await?;
            let focused =
                tree.nodes.iter().find(|node| Some(&node.reference) == tree.focus.as_ref());
            let focus = focused.map(|node| node.name.clone());
            let windows = tree.windows.into_iter().map(|window| SceneWindow {
                id: window.id,
                browser: window.browser,
                popup: window.popup,
                title: window.name,
                class: window.class,
                url: window.url,
                rect: window.rect,
                focused: window.focused,
            });
            Ok(Scene { windows: windows.collect(), focus })
        }
        .boxed()
    }

    fn tell<'a>(&'a self, status: &'a str) -> BoxFuture<'a, ()> {
        async move {
            // A status line that cannot be set is no reason to stop.
            let _ = self.session.set_agent_status(&self.caller, status.to_owned()).await;
        }
        .boxed()
    }

    fn confirm<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<bool>> {
        // Nobody is asked yet: the caller decides, and runs again with `allow`.
        async { None }.boxed()
    }
}

/// The effects of two calls that are one action.
fn merged(before: Observation, mut now: Observation) -> Observation {
    now.changed = match (before.changed, now.changed) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (None, changed) | (changed, None) => changed,
        (Some(false), Some(false)) => Some(false),
    };
    now.hit = before.hit.or(now.hit);
    now.acted_at = before.acted_at.or(now.acted_at);
    now.trace = now.trace.or(before.trace);
    for effect in before.effects {
        if !now.effects.contains(&effect) {
            now.effects.push(effect);
        }
    }
    now
}

fn listed(candidate: &Candidate) -> String {
    let Rect { x, y, width, height } = candidate.rect;
    let reference = candidate.reference.as_deref().unwrap_or("-");
    format!("{reference} {} {:?} at {x},{y} {width}x{height}", candidate.role, candidate.name)
}

/// A picture from a guest's reply.
fn shot(reply: &Reply) -> Option<Shot> {
    let fact = |name: &str| text(&reply.headers, name);
    let (width, height) = fact(header::SIZE)?.split_once('x')?;
    let size: (u32, u32) = (width.parse().ok()?, height.parse().ok()?);
    let (x, y) = fact(header::ORIGIN).unwrap_or("0,0").split_once(',')?;
    let scale: f64 = fact(header::SCALE).and_then(|scale| scale.parse().ok()).unwrap_or(1.0);
    let side = |length: u32| (f64::from(length) / scale.max(0.001)).round() as u32;
    let rect = Rect {
        x: x.trim().parse().ok()?,
        y: y.trim().parse().ok()?,
        width: side(size.0),
        height: side(size.1),
    };
    let media_type = fact("content-type").unwrap_or("image/png").to_owned();
    let data: Arc<str> = BASE64_STANDARD.encode(&reply.body).into();
    Some(Shot { id: fact(header::ID)?.to_owned(), media_type, data, size, rect })
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn failure(error: SessionError) -> Failure {
    let message = error.to_string();
    match error.public_code() {
        ErrorCode::ControlHeld | ErrorCode::ControlTaken | ErrorCode::Private => {
            Failure::ControlTaken(message)
        }
        ErrorCode::Forbidden
        | ErrorCode::NotDesktopMode
        | ErrorCode::NotDriving
        | ErrorCode::PersonRequired
        | ErrorCode::TaskLimitReached => Failure::Denied(message),
        ErrorCode::NotFound
        | ErrorCode::SessionEnded
        | ErrorCode::SessionOutdated
        | ErrorCode::GuestLost
        | ErrorCode::DisplayLost
        | ErrorCode::OutOfMemory => Failure::Gone(message),
        _ => Failure::Bad(message),
    }
}

/// The value of a JSON body, for tests.
#[cfg(test)]
pub(crate) fn body(call: &ActionCall) -> serde_json::Value {
    serde_json::from_slice(&call.body).unwrap_or_default()
}
