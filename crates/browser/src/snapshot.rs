//! The page as a tree for models: one line for each element with content or a
//! function, and a ref on each element that can be used.
//!
//! ```text
//! navigation
//!   list
//!     - link "Start" [ref=e1]
//! main
//!   heading "Sign in" [level=1]
//!   textbox "E-mail" [ref=e2] [required] [focused]: me@example.com
//!   textbox "Password" [ref=e3]
//!   text: No account? link "Make one" [ref=e4] first.
//!   table "Plans"
//!     | Name | Price
//!     | Small | button "Buy" [ref=e5]
//! ```
//!
//! [`capture`] reads Chromium's data, and [`dom`] what follows from the structure of a document.
//! [`roles`], [`names`] and [`states`] tell what elements are: see ADR 69. [`tree`] keeps the
//! meaningful part, [`layout`] makes lines, [`cut`] shortens them, and [`delta`] compares them with
//! an earlier snapshot.

mod capture;
mod content;
mod cut;
mod delta;
mod dom;
#[cfg(test)]
mod fixture;
mod frame;
mod layout;
mod marks;
mod names;
mod past;
mod piece;
mod roles;
mod states;
mod tree;
mod words;

use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

use futures_util::future::join_all;
use helmdeck_cdp::SessionId;
use helmdeck_wire::browser::{Selector, Snapshot, SnapshotText};
use serde::Deserialize;
use serde_json::json;
use tokio::join;

pub(crate) use past::Past;

use crate::{
    BrowserError,
    locate::{Ask, Want},
    page::{Frame, Page},
    page_action::PageAction,
    refs::Node,
    world::Outcome,
};
use capture::Capture;
use dom::{Dom, Mark};
use layout::Limits;
use past::Of;
use tree::{Source, Tree};

/// The default limit in bytes.
const MAX_BYTES: usize = 50_000;
/// The delta of an unchanged page.
const NOTHING: &str = "nothing has changed\n";
/// In longer snapshots, texts are shortened: snapshots are for orientation, and there are better
/// ways to read a page.
const LONG: usize = 16_000;
/// Limit on frames in one snapshot.
const MAX_FRAMES: usize = 50;

/// A finished snapshot.
struct Made {
    id: u64,
    title: String,
    text: String,
    delta: bool,
    truncated: bool,
}

impl PageAction {
    /// The page or one element as a tree.
    ///
    /// A snapshot that is too long is shortened in steps: texts to 150 characters, then to 50, then
    /// lines are left out (see [`cut`]). Frames that disappear meanwhile are left out.
    pub async fn snapshot(&mut self, wanted: &Snapshot) -> Result<SnapshotText, BrowserError> {
        let root = match &wanted.selector {
            Some(selector) => Some(self.node(selector).await?),
            None => None,
        };
        let made = make(&self.page, root, wanted, self.deadline).await?;
        let Made { id, title, text: snapshot, delta, truncated } = made;
        let acted = self.acted().await?;
        Ok(SnapshotText { acted, id, title, snapshot, delta, truncated })
    }

    /// An element as an object in the context of our scripts.
    pub async fn object(&self, selector: &Selector) -> Result<(Frame, String), BrowserError> {
        let ask = Ask { selector, want: Want::Attached, doing: "keep", arguments: json!({}) };
        let found = self.find(&ask).await?;
        match self.page.kept(&found.frame, self.deadline).await? {
            Outcome::Value(object) => Ok((found.frame, object)),
            Outcome::Left => Err(self.not_found(selector).await),
        }
    }

    async fn node(&self, selector: &Selector) -> Result<Node, BrowserError> {
        #[derive(Deserialize)]
        struct Described {
            node: DescribedNode,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct DescribedNode {
            backend_node_id: i64,
        }
        let (Frame { session, id: frame, .. }, object) = self.object(selector).await?;
        let params = json!({ "objectId": object });
        let described: Described =
            self.page.call(&session, "DOM.describeNode", params, self.deadline).await?;
        Ok(Node { session, frame, backend_id: described.node.backend_node_id })
    }
}

async fn make(
    page: &Page,
    root: Option<Node>,
    wanted: &Snapshot,
    deadline: Instant,
) -> Result<Made, BrowserError> {
    let frames = page.frames();
    let seen = look(page, &frames, deadline).await?;
    let sources = seen.sources(&frames);
    let Some(main) = sources.first() else { return Err(BrowserError::PageGone) };
    let of = Of { document: main.document.clone(), root: root.clone() };
    let title = seen.title(main);
    let tree = tree::grow(&sources, root.as_ref());

    let name = |frame: usize, backend_id: i64| match sources.get(frame) {
        Some(Source { session, frame, document, .. }) => {
            let (session, frame) = (session.clone(), frame.clone());
            page.refs().name(&Node { session, frame, backend_id }, document)
        }
        None => String::new(),
    };
    let room = wanted.max_bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(MAX_BYTES);
    let Text { lines, whole, text, truncated } = write(&tree, room, &name);
    let past = page.refs().past();
    let before = wanted.since.and_then(|id| past.find(id, &of));
    let changes = before.map(|before| match delta::delta(&before, &lines) {
        changes if changes.is_empty() => NOTHING.to_owned(),
        changes => changes,
    });
    let id = past.keep(of, lines);
    let short = |changes: &String| changes == NOTHING || changes.len() < whole.min(room + 1);
    match changes.filter(short) {
        Some(text) => Ok(Made { id, title, text, delta: true, truncated: tree.cut }),
        None => Ok(Made { id, title, text, delta: false, truncated }),
    }
}

struct Text {
    /// All lines.
    lines: Vec<layout::Line>,
    /// Their size in bytes.
    whole: usize,
    /// As much as fits the limit.
    text: String,
    truncated: bool,
}

fn write(tree: &Tree, room: usize, name: &dyn Fn(usize, i64) -> String) -> Text {
    let [full, shorter @ ..] = Limits::LEVELS;
    let mut lines = layout::lines(tree, full, name);
    let mut text = cut::whole(&lines);
    if text.len() > LONG {
        lines = layout::lines(tree, Limits::LONG, name);
        text = cut::whole(&lines);
    }
    let whole = text.len();
    if whole <= room {
        return Text { lines, whole, text, truncated: tree.cut };
    }
    drop(text);
    let mut shortest = None;
    for limits in shorter {
        let shorter = layout::lines(tree, limits, name);
        let text = cut::whole(&shorter);
        if text.len() <= room {
            return Text { lines, whole, text, truncated: true };
        }
        shortest = Some(shorter);
    }
    let text = cut::fitting(shortest.as_ref().unwrap_or(&lines), room);
    Text { lines, whole, text, truncated: true }
}

/// What the browser reports about the frames of a page.
struct Seen {
    captures: HashMap<SessionId, Capture>,
    marks: HashMap<String, HashMap<i64, Vec<Mark>>>,
    /// The parent frame and the element in it that show a frame of another process.
    owners: HashMap<String, (String, i64)>,
}

impl Seen {
    /// The documents of the frames, the main frame first. Frames without a known parent are left
    /// out.
    fn sources(&self, frames: &[Frame]) -> Vec<Source<'_>> {
        let mut sources: Vec<Source<'_>> = Vec::new();
        let mut index: HashMap<&str, usize> = HashMap::new();
        for (at, frame) in frames.iter().enumerate() {
            let Some(capture) = self.captures.get(&frame.session) else { continue };
            let Some(document) = capture.document_of(&frame.id) else { continue };
            let owner = match self.owners.get(&frame.id) {
                Some((parent, id)) => Some((parent.as_str(), *id)),
                None => capture.owner(document),
            };
            let owner = owner.and_then(|(parent, id)| Some((*index.get(parent)?, id)));
            if owner.is_none() && at > 0 {
                continue;
            }
            let marks = self.marks.get(&frame.id).cloned().unwrap_or_default();
            let dom = Dom::new(capture.nodes(document), marks);
            index.insert(&frame.id, sources.len());
            let Frame { session, id, url, loader, .. } = frame.clone();
            sources.push(Source { session, frame: id, document: loader, url, dom, owner });
        }
        sources
    }

    fn title(&self, main: &Source<'_>) -> String {
        let capture = self.captures.get(&main.session);
        let title =
            capture.and_then(|capture| Some(capture.title(capture.document_of(&main.frame)?)));
        words::tidy(title.unwrap_or_default(), 300)
    }
}

/// Reads all frames.
///
/// All requests are sent together: a busy page answers later requests late, and answers for the
/// same moment fit together.
async fn look(page: &Page, frames: &[Frame], deadline: Instant) -> Result<Seen, BrowserError> {
    let frames = frames.get(..=MAX_FRAMES).unwrap_or(frames);
    let Some(main) = frames.first() else { return Err(BrowserError::PageGone) };
    let sessions: HashSet<&SessionId> =
        frames.iter().map(|frame| &frame.session).filter(|id| **id != main.session).collect();
    let (first, more, marks, owners) =
        join!(
            capture(page, &main.session, deadline),
            join_all(sessions.into_iter().map(async |session| {
                // A frame that disappears is left out.
                Some((session.clone(), capture(page, session, deadline).await.ok()?))
            })),
            join_all(frames.iter().map(async |frame| {
                (frame.id.clone(), marks::marks(page, frame, deadline).await)
            })),
            join_all(frames.iter().map(|frame| owner(page, frames, frame, deadline))),
        );
    let mut captures = HashMap::from([(main.session.clone(), first?)]);
    captures.extend(more.into_iter().flatten());
    let (marks, owners) = (marks.into_iter().collect(), owners.into_iter().flatten().collect());
    Ok(Seen { captures, marks, owners })
}

async fn capture(
    page: &Page,
    session: &SessionId,
    deadline: Instant,
) -> Result<Capture, BrowserError> {
    let params = json!({ "computedStyles": Capture::STYLES });
    page.call(session, "DOMSnapshot.captureSnapshot", params, deadline).await
}

/// Asks for the element that shows a frame of another process.
async fn owner(
    page: &Page,
    frames: &[Frame],
    frame: &Frame,
    deadline: Instant,
) -> Option<(String, (String, i64))> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Owner {
        backend_node_id: i64,
    }
    let parent = frames.iter().find(|parent| Some(&parent.id) == frame.parent.as_ref())?;
    if parent.session == frame.session {
        return None;
    }
    let params = json!({ "frameId": frame.id });
    let owner: Owner =
        page.call(&parent.session, "DOM.getFrameOwner", params, deadline).await.ok()?;
    Some((frame.id.clone(), (parent.id.clone(), owner.backend_node_id)))
}
