//! The page as an accessibility tree for models: one line for each element with content or a
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
//! [`source`] reads Chromium's data, [`tree`] keeps the meaningful part, [`layout`] makes lines,
//! [`cut`] shortens them, and [`delta`] compares them with an earlier snapshot.

mod cut;
mod delta;
mod frame;
mod layout;
mod past;
mod piece;
mod role;
mod source;
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
use layout::Limits;
use past::Of;
use source::{AxTree, Captured, Facts};
use tree::{AllFacts, Source, Tree};

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
    let (sources, facts) = look(page, &frames, deadline).await?;
    let Some(main) = sources.first() else { return Err(BrowserError::PageGone) };
    let of = Of { document: main.document.clone(), root: root.clone() };
    let title = main.tree.nodes.first().map(|node| words::tidy(&node.name, 300));
    let tree = tree::grow(&sources, &facts, root.as_ref());
    drop(facts);

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
    let title = title.unwrap_or_default();
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

/// Reads all frames, the main frame first.
///
/// All requests are sent together: a busy page answers later requests late, and answers for the
/// same moment fit together.
async fn look(
    page: &Page,
    frames: &[Frame],
    deadline: Instant,
) -> Result<(Vec<Source>, AllFacts), BrowserError> {
    let Some((main, others)) = frames.split_first() else { return Err(BrowserError::PageGone) };
    let others = others.get(..MAX_FRAMES).unwrap_or(others);
    let elsewhere: HashSet<&SessionId> =
        others.iter().map(|frame| &frame.session).filter(|id| **id != main.session).collect();
    let (first, facts, found, more) = join!(
        source(page, main, deadline),
        facts(page, &main.session, deadline),
        join_all(others.iter().map(|frame| child(page, frames, frame, deadline))),
        join_all(elsewhere.into_iter().map(async |session| {
            // A frame that disappears is left out.
            let facts = facts(page, session, deadline).await.unwrap_or_default();
            (session.clone(), facts)
        })),
    );
    let mut sources = vec![first?];
    let mut facts = AllFacts::from([(main.session.clone(), facts?)]);
    facts.extend(more);
    // The index of each frame's source; frames without a known parent are left out.
    let mut index = HashMap::from([(main.id.clone(), 0)]);
    for (mut source, parent, owner) in found.into_iter().flatten() {
        if let Some(parent) = index.get(&parent) {
            source.owner = Some((*parent, owner));
            index.insert(source.frame.clone(), sources.len());
            sources.push(source);
        }
    }
    Ok((sources, facts))
}

async fn source(page: &Page, frame: &Frame, deadline: Instant) -> Result<Source, BrowserError> {
    let params = json!({ "frameId": frame.id });
    let tree: AxTree =
        page.call(&frame.session, "Accessibility.getFullAXTree", params, deadline).await?;
    let Frame { session, id, url, loader, .. } = frame.clone();
    Ok(Source { session, frame: id, document: loader, url, tree, owner: None })
}

/// Reads a child frame and the element that shows it.
async fn child(
    page: &Page,
    frames: &[Frame],
    frame: &Frame,
    deadline: Instant,
) -> Option<(Source, String, i64)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Owner {
        backend_node_id: i64,
    }
    let parent = frames.iter().find(|parent| Some(&parent.id) == frame.parent.as_ref())?;
    let params = json!({ "frameId": frame.id });
    let owner: Owner =
        page.call(&parent.session, "DOM.getFrameOwner", params, deadline).await.ok()?;
    let source = source(page, frame, deadline).await.ok()?;
    Some((source, parent.id.clone(), owner.backend_node_id))
}

/// Reads what the accessibility tree does not contain, for all frames of a session.
async fn facts(
    page: &Page,
    session: &SessionId,
    deadline: Instant,
) -> Result<HashMap<i64, Facts>, BrowserError> {
    let params = json!({ "computedStyles": Captured::STYLES });
    let captured: Captured =
        page.call(session, "DOMSnapshot.captureSnapshot", params, deadline).await?;
    Ok(captured.facts())
}
