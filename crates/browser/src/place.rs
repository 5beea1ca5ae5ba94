//! Where something in a frame is on the page.

use std::time::Instant;

use serde::Deserialize;
use serde_json::json;

use crate::{
    BrowserError,
    locate::Found,
    page::{Frame, Page},
    turn::Turn,
};

/// A place in a view.
#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct Spot {
    pub x: f64,
    pub y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    backend_node_id: i64,
}

#[derive(Deserialize)]
struct Boxed {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    content: Vec<f64>,
}

impl Turn {
    /// Where a point of a frame is in the view of the page.
    pub async fn place(&self, found: &Found, spot: Spot) -> Result<Spot, BrowserError> {
        let offset = match found.answer.offset {
            Some(offset) => offset,
            None => self.steady_offset(&found.frame).await?,
        };
        Ok(Spot { x: spot.x + offset.x, y: spot.y + offset.y })
    }

    /// The page scrolls to what is in a frame of another process some time after it was asked to.
    async fn steady_offset(&self, frame: &Frame) -> Result<Spot, BrowserError> {
        let mut before = offset(&self.page, frame, self.deadline).await?;
        loop {
            let now = offset(&self.page, frame, self.deadline).await?;
            if now == before {
                return Ok(now);
            }
            before = now;
        }
    }
}

/// Where the view of a frame begins in the view of the page, as the browser sees it.
async fn offset(page: &Page, frame: &Frame, deadline: Instant) -> Result<Spot, BrowserError> {
    let frames = page.frames();
    let find = |id: &Option<String>| frames.iter().find(|frame| Some(&frame.id) == id.as_ref());
    let mut at = Spot::default();
    let mut frame = frame;
    while let Some(mut parent) = find(&frame.parent) {
        let session = &parent.session;
        let params = json!({ "frameId": frame.id });
        let owner = page.call::<Owner>(session, "DOM.getFrameOwner", params, deadline).await?;
        let params = json!({ "backendNodeId": owner.backend_node_id });
        let boxed = page.call::<Boxed>(session, "DOM.getBoxModel", params, deadline).await?;
        if let [x, y, ..] = boxed.model.content.as_slice() {
            at = Spot { x: at.x + x, y: at.y + y };
        }
        // Boxes are told in the view of the topmost frame of a process.
        while let Some(above) = find(&parent.parent).filter(|above| above.session == *session) {
            parent = above;
        }
        frame = parent;
    }
    Ok(at)
}
