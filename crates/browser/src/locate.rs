//! Finding an element in all frames of a tab, and waiting until it can be used.

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, future::join_all, stream::FuturesUnordered};
use helmdeck_wire::browser::{Hit, Pixel, Selector};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use crate::{
    BrowserError,
    hit_test::Spot,
    page::Frame,
    page_action::PageAction,
    view::View,
    world::{Outcome, Remote},
};

/// How long one search waits before it includes frames that have appeared meanwhile.
const SLICE: Duration = Duration::from_millis(500);
/// Extra time for the page to report a timeout.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
/// A frame that takes longer than this does not delay the others.
const LOOK: Duration = Duration::from_millis(500);

/// A search for an element, and what to do with it.
#[derive(Debug, Clone)]
pub(crate) struct Ask<'a> {
    pub selector: &'a Selector,
    pub want: Want,
    /// The operation of the page's script, and its arguments.
    pub doing: &'static str,
    pub arguments: Value,
}

/// The state an element must have before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// In the document.
    Attached,
    /// It has a place on the page.
    Visible,
    /// Visible and enabled, and scrolled to.
    Enabled,
    /// Enabled, not moving, and a click would reach it.
    Usable,
}

impl Want {
    fn name(self) -> &'static str {
        match self {
            Self::Attached => "attached",
            Self::Visible => "visible",
            Self::Enabled => "enabled",
            Self::Usable => "usable",
        }
    }
}

/// An element that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub frame: Frame,
    pub answer: Answer,
}

/// The script's answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    state: Verdict,
    why: String,
    element: String,
    /// Waiting longer does not help.
    r#final: bool,
    pub tag: String,
    pub name: String,
    pub x: f64,
    pub y: f64,
    pub r#box: Rect,
    /// The tab is hidden.
    hidden: bool,
    /// A click on the element starts a download.
    pub downloads: bool,
    pub content: String,
    pub values: Vec<String>,
    pub insert: bool,
    pub end: bool,
    /// The element as `elements.js` describes it.
    pub described: Option<Value>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    #[default]
    Missing,
    Ready,
    Blocked,
    Unreadable,
    Stale,
    /// The element belongs to another document.
    Elsewhere,
}

/// A rectangle in a viewport.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
pub(crate) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

#[derive(Deserialize)]
struct Survey {
    url: String,
    title: String,
    elements: Vec<String>,
    more: bool,
}

#[derive(Deserialize)]
struct Resolved {
    object: Remote,
}

impl Found {
    /// The element as reported in a reply.
    pub fn hit(&self, at: Spot, view: &View) -> Hit {
        let Answer { tag, name, .. } = &self.answer;
        let Pixel { x, y } = pixel(at);
        let (page, screen) = (pixel(view.on_page(at)), view.on_screen(at).map(pixel));
        Hit { tag: tag.clone(), name: name.clone(), x, y, page, screen, ..Hit::default() }
    }
}

/// Viewport coordinates are small numbers.
fn pixel(at: Spot) -> Pixel {
    Pixel { x: at.x.round() as i32, y: at.y.round() as i32 }
}

impl PageAction {
    /// Finds the element, waits until it has the wanted state, and runs the operation on it.
    pub async fn find(&self, ask: &Ask<'_>) -> Result<Found, BrowserError> {
        let mut in_front = false;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let over = left.is_zero();
            let (frame, answer) = match ask.selector {
                Selector::Ref(name) if !is_listed(name) => self.try_ref(name, ask, left).await?,
                _ => self.try_frames(ask, left).await?,
            };
            match answer.state {
                Verdict::Ready if answer.hidden && ask.want == Want::Usable && !in_front => {
                    // Animations and clicks do not work in a hidden tab.
                    self.ask("Page.bringToFront", json!({})).await?;
                    in_front = true;
                }
                Verdict::Ready => return Ok(Found { frame, answer }),
                Verdict::Unreadable => {
                    return Err(BrowserError::InvalidSelector {
                        selector: ask.selector.to_string(),
                        why: answer.why,
                    });
                }
                Verdict::Stale | Verdict::Elsewhere => {
                    return Err(BrowserError::StaleRef(ask.selector.to_string()));
                }
                // An element that was removed does not come back.
                Verdict::Missing if matches!(ask.selector, Selector::Ref(_)) => {
                    return Err(BrowserError::StaleRef(ask.selector.to_string()));
                }
                Verdict::Blocked if over || answer.r#final => {
                    return Err(BrowserError::NotActionable {
                        selector: ask.selector.to_string(),
                        element: answer.element,
                        why: answer.why,
                    });
                }
                Verdict::Missing if over => return Err(self.not_found(ask.selector).await),
                Verdict::Blocked | Verdict::Missing => {}
            }
        }
    }

    /// Like [`Self::find`], without waiting.
    pub async fn find_now(&self, ask: &Ask<'_>) -> Result<(), BrowserError> {
        let (_, answer) = match ask.selector {
            Selector::Ref(name) if !is_listed(name) => {
                self.try_ref(name, ask, Duration::ZERO).await?
            }
            _ => self.try_frames(ask, Duration::ZERO).await?,
        };
        match answer.state {
            Verdict::Ready => Ok(()),
            _ => Err(BrowserError::StaleRef(ask.selector.to_string())),
        }
    }

    async fn try_frames(
        &self,
        ask: &Ask<'_>,
        left: Duration,
    ) -> Result<(Frame, Answer), BrowserError> {
        let frames = self.page.frames();
        let main = self.page.main()?;
        let alone = frames.len() <= 1;
        let slice = left.min(SLICE);
        let answer = self.try_frame(&main, ask, slice, alone).await?;
        if alone || answer.state != Verdict::Missing {
            return Ok((main, answer));
        }
        let gone = matches!(ask.selector, Selector::Ref(_));
        let others: Vec<_> = frames.iter().filter(|frame| frame.id != main.id).collect();
        let looks = others.iter().map(|frame| self.look(frame, ask.selector, Duration::ZERO));
        let looked = join_all(looks).await;
        let seen = others.iter().zip(&looked).find(|(_, seen)| **seen);
        if let Some((frame, _)) = seen {
            let answer = self.try_frame(frame, ask, slice, false).await?;
            return Ok(((*frame).clone(), answer));
        }
        if gone {
            return Ok((main, answer));
        }
        // Not found yet: use the first frame that has it.
        let mut looks: FuturesUnordered<_> =
            frames.iter().map(|frame| self.look(frame, ask.selector, slice)).collect();
        while let Some(seen) = looks.next().await {
            if seen {
                break;
            }
        }
        Ok((main, answer))
    }

    /// Whether a frame has such an element, now or within a time.
    async fn look(&self, frame: &Frame, selector: &Selector, within: Duration) -> bool {
        let argument = json!({
            "selector": written(selector), "want": "attached", "doing": "nothing",
            "stay": true, "ms": millis(within),
        });
        let deadline = Instant::now() + within + LOOK;
        let answer = self.page.run::<Answer>(frame, "until", argument, deadline).await;
        matches!(answer, Ok(Outcome::Value(Answer { state: Verdict::Ready, .. })))
    }

    async fn try_frame(
        &self,
        frame: &Frame,
        ask: &Ask<'_>,
        slice: Duration,
        stay: bool,
    ) -> Result<Answer, BrowserError> {
        let argument = argument(ask, slice, stay);
        let answer = self.page.run(frame, "until", argument, self.deadline + GRACE).await?;
        self.or_left(answer).await
    }

    async fn try_ref(
        &self,
        name: &str,
        ask: &Ask<'_>,
        left: Duration,
    ) -> Result<(Frame, Answer), BrowserError> {
        let stale = || BrowserError::StaleRef(ask.selector.to_string());
        let frames = self.page.frames();
        let node = self.page.refs().find(name, &frames).ok_or_else(stale)?;
        let deadline = self.deadline + GRACE;
        // A node belongs to one document, and the browser does not report which.
        for frame in frames.iter().filter(|frame| frame.session == node.session) {
            let Outcome::Value(world) = self.page.world(frame, deadline).await? else { continue };
            let params = json!({ "backendNodeId": node.backend_id, "executionContextId": world });
            let resolved =
                self.page.call::<Resolved>(&frame.session, "DOM.resolveNode", params, deadline);
            let object = match resolved.await {
                Ok(resolved) => resolved.object.object_id,
                Err(BrowserError::Browser(_)) => None,
                Err(error) => return Err(error),
            };
            let Some(object) = object else { continue };
            let argument = argument(ask, left.min(SLICE), true);
            let answer =
                self.page.run_on(frame, "until", argument, Some(&object), deadline).await?;
            let _ = self
                .page
                .call::<IgnoredAny>(
                    &frame.session,
                    "Runtime.releaseObject",
                    json!({ "objectId": object }),
                    deadline,
                )
                .await;
            if !matches!(answer, Outcome::Value(Answer { state: Verdict::Elsewhere, .. })) {
                return Ok((frame.clone(), self.or_left(answer).await?));
            }
        }
        Err(stale())
    }

    /// Treats a document that was left as empty; the next document is searched later.
    async fn or_left(&self, told: Outcome<Answer>) -> Result<Answer, BrowserError> {
        match told {
            Outcome::Value(answer) => Ok(answer),
            Outcome::Left => {
                let pause = Instant::now() + Duration::from_millis(50);
                self.page.news(pause.min(self.deadline)).await;
                Ok(Answer::default())
            }
        }
    }

    pub(crate) async fn not_found(&self, selector: &Selector) -> BrowserError {
        let selector_text = selector.to_string();
        let deadline = Instant::now() + GRACE;
        let main = match self.page.main() {
            Ok(main) => main,
            Err(error) => return error,
        };
        let survey = self.page.run::<Survey>(&main, "survey", written(selector), deadline).await;
        let page = match survey {
            Ok(Outcome::Value(survey)) => survey.sentence(),
            _ => format!("the page is {}", main.url),
        };
        BrowserError::ElementNotFound { selector: selector_text, page }
    }
}

impl Survey {
    fn sentence(&self) -> String {
        let Self { url, title, elements, more } = self;
        if elements.is_empty() {
            return format!("the page {title:?} at {url} has no usable elements");
        }
        let more = if *more { " and more" } else { "" };
        format!("the page {title:?} at {url} has {}{more}", elements.join(", "))
    }
}

fn argument(ask: &Ask<'_>, slice: Duration, stay: bool) -> Value {
    let mut argument = json!({
        "selector": written(ask.selector), "want": ask.want.name(), "doing": ask.doing,
        "stay": stay, "ms": millis(slice),
    });
    if let (Some(argument), Some(more)) = (argument.as_object_mut(), ask.arguments.as_object()) {
        argument.extend(more.clone());
    }
    argument
}

/// Whether a ref comes from a list of elements, which the script keeps, and not from a snapshot.
pub(crate) fn is_listed(reference: &str) -> bool {
    reference.starts_with('p')
}

/// A selector in the script's format.
pub(crate) fn written(selector: &Selector) -> Value {
    match selector {
        Selector::Css(css) => json!({ "css": css }),
        Selector::Text { text, exact } => json!({ "text": text, "exact": exact }),
        Selector::Role { role, name } => json!({ "role": role, "name": name }),
        Selector::Ref(name) => json!({ "ref": name }),
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
