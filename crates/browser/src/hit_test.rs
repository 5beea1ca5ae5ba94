//! Translates points in frames to page coordinates, and checks whether a click would reach them.

use std::time::Instant;

use helmdeck_cdp::SessionId;
use serde::Deserialize;
use serde_json::json;

use crate::{
    BrowserError,
    locate::Found,
    page::{Frame, Page},
    page_action::PageAction,
};

/// A point in a viewport.
#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct Spot {
    pub x: f64,
    pub y: f64,
}

/// One step from an element's frame out to its parent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// The session whose topmost frame defines the coordinates.
    session: SessionId,
    /// The frame to step out of, and the element that shows it.
    frame: String,
    owner: i64,
    pub at: Spot,
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

/// An element's boxes: the corners of each, clockwise from the upper left, after transforms.
#[derive(Deserialize)]
struct Model {
    content: [f64; 8],
    border: [f64; 8],
    /// Width of the border box before transforms.
    width: f64,
    height: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    css_layout_viewport: Scrolled,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scrolled {
    page_x: f64,
    page_y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hit {
    backend_node_id: i64,
    #[serde(default)]
    frame_id: String,
}

#[derive(Deserialize)]
struct Described {
    node: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    node_name: String,
}

impl PageAction {
    /// Translates a point of a frame to page coordinates.
    pub async fn place(&self, found: &Found, spot: Spot) -> Result<Spot, BrowserError> {
        Ok(self.steps(found, spot).await?.last().map_or(spot, |step| step.at))
    }

    /// The steps from a frame out to the page; empty for the page itself.
    pub async fn steps(&self, found: &Found, spot: Spot) -> Result<Vec<Step>, BrowserError> {
        let mut before = steps(&self.page, &found.frame, spot, self.deadline).await?;
        if before.is_empty() {
            return Ok(before);
        }
        // The page scrolls to a point in a frame of another process with some delay.
        loop {
            let now = steps(&self.page, &found.frame, spot, self.deadline).await?;
            if now == before {
                return Ok(now);
            }
            before = now;
        }
    }

    /// The steps from a frame out to the page as they are now.
    pub async fn steps_of(&self, frame: &Frame, spot: Spot) -> Result<Vec<Step>, BrowserError> {
        steps(&self.page, frame, spot, self.deadline).await
    }

    /// What covers a frame at the point where a click must reach it.
    pub async fn cover(&self, steps: &[Step]) -> Result<Option<String>, BrowserError> {
        let deadline = self.deadline;
        for Step { session, frame, owner, at } in steps {
            let metrics: Metrics =
                self.page.call(session, "Page.getLayoutMetrics", json!({}), deadline).await?;
            let Scrolled { page_x, page_y } = metrics.css_layout_viewport;
            // The protocol takes whole pixels in document coordinates.
            let params = json!({
                "x": (at.x + page_x).floor() as i64, "y": (at.y + page_y).floor() as i64,
            });
            let hit = self.page.call::<Hit>(session, "DOM.getNodeForLocation", params, deadline);
            let hit = match hit.await {
                Ok(hit) => hit,
                // Nothing is there: the frame is outside the viewport.
                Err(BrowserError::Browser(_)) => return Ok(Some("something".to_owned())),
                Err(error) => return Err(error),
            };
            if hit.frame_id != *frame && hit.backend_node_id != *owner {
                let params = json!({ "backendNodeId": hit.backend_node_id });
                let described: Described =
                    self.page.call(session, "DOM.describeNode", params, deadline).await?;
                return Ok(Some(format!("<{}>", described.node.node_name.to_lowercase())));
            }
        }
        Ok(None)
    }
}

async fn steps(
    page: &Page,
    frame: &Frame,
    mut at: Spot,
    deadline: Instant,
) -> Result<Vec<Step>, BrowserError> {
    let frames = page.frames();
    let find = |id: &Option<String>| frames.iter().find(|frame| Some(&frame.id) == id.as_ref());
    let mut steps = Vec::new();
    let mut frame = frame;
    while let Some(mut parent) = find(&frame.parent) {
        let session = &parent.session;
        let params = json!({ "frameId": frame.id });
        let owner = page.call::<Owner>(session, "DOM.getFrameOwner", params, deadline).await?;
        let owner = owner.backend_node_id;
        let params = json!({ "backendNodeId": owner });
        let boxed = page.call::<Boxed>(session, "DOM.getBoxModel", params, deadline).await?;
        at = boxed.model.out(at);
        steps.push(Step { session: session.clone(), frame: frame.id.clone(), owner, at });
        // Boxes are reported relative to the topmost frame of a process.
        while let Some(above) = find(&parent.parent).filter(|above| above.session == *session) {
            parent = above;
        }
        frame = parent;
    }
    Ok(steps)
}

impl Model {
    /// Translates a point of the content to where it is shown.
    fn out(&self, spot: Spot) -> Spot {
        let [x, y, ..] = self.content;
        let [left, top, right, right_top, _, _, bottom_left, bottom] = self.border;
        // Content pixels and border pixels have the same length.
        let along = |to: (f64, f64), length: f64| {
            if length > 0.0 { ((to.0 - left) / length, (to.1 - top) / length) } else { (0.0, 0.0) }
        };
        let right = along((right, right_top), self.width);
        let down = along((bottom_left, bottom), self.height);
        Spot {
            x: x + spot.x * right.0 + spot.y * down.0,
            y: y + spot.x * right.1 + spot.y * down.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_follows_the_transforms_of_its_frame() {
        let rectangle = |x: f64, y: f64, w: f64, h: f64| [x, y, x + w, y, x + w, y + h, x, y + h];
        let plain = Model {
            border: rectangle(10.0, 20.0, 104.0, 54.0),
            content: rectangle(12.0, 22.0, 100.0, 50.0),
            width: 104.0,
            height: 54.0,
        };
        assert_eq!(plain.out(Spot { x: 5.0, y: 6.0 }), Spot { x: 17.0, y: 28.0 });
        let half = Model {
            border: rectangle(0.0, 0.0, 100.0, 50.0),
            content: rectangle(0.0, 0.0, 100.0, 50.0),
            width: 200.0,
            height: 100.0,
        };
        assert_eq!(half.out(Spot { x: 200.0, y: 50.0 }), Spot { x: 100.0, y: 25.0 });
        // Rotated by 90 degrees clockwise.
        let turned = [50.0, 0.0, 50.0, 100.0, 0.0, 100.0, 0.0, 0.0];
        let turned = Model { border: turned, content: turned, width: 100.0, height: 50.0 };
        assert_eq!(turned.out(Spot { x: 10.0, y: 20.0 }), Spot { x: 30.0, y: 10.0 });
    }
}
