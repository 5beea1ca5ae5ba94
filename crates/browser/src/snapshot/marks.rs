//! States of elements that only a script in their document can tell.

use std::{collections::HashMap, time::Instant};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;
use tokio::join;

use super::dom::Mark;
use crate::{
    BrowserError,
    page::{Frame, Page},
    world::Outcome,
};

/// The objects that one snapshot keeps in the browser until the next one.
const GROUP: &str = "helmdeck-marks";

/// Closed shadow roots in each other that are looked into.
const MAX_CLOSED: usize = 10;

/// The answer to a call of `helmdeck.marks`: pairs of a word and an element.
#[derive(Deserialize)]
struct Evaluated<T> {
    result: Answer<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<T> {
    deep_serialized_value: Option<T>,
}

#[derive(Deserialize)]
struct Marked {
    #[serde(default)]
    value: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    value: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Word(String),
    Node(Node),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    backend_node_id: i64,
    #[serde(default)]
    local_name: String,
    #[serde(default)]
    shadow_root: Option<Inner>,
}

#[derive(Deserialize)]
struct Inner {
    #[serde(default)]
    value: Option<Box<Node>>,
}

impl Node {
    /// The shadow root of an element, apart from those of the browser's own fields.
    fn root(&self) -> Option<i64> {
        let own = ["input", "textarea", "select", "video", "audio", "details"];
        let root = self.shadow_root.as_ref().filter(|_| !own.contains(&self.local_name.as_str()));
        root.and_then(|root| root.value.as_ref()).map(|root| root.backend_node_id)
    }
}

/// The marks of a frame's elements by backend id. None in a frame that disappears.
pub(super) async fn marks(page: &Page, frame: &Frame, until: Instant) -> HashMap<i64, Vec<Mark>> {
    let mut marks = HashMap::<i64, Vec<Mark>>::new();
    let Ok(Outcome::Value(world)) = page.world(frame, until).await else { return marks };
    let params = json!({
        "expression": "helmdeck.marks()",
        "contextId": world,
        "objectGroup": GROUP,
        "serializationOptions": as_ids(),
    });
    let release = json!({ "objectGroup": GROUP });
    let asking = async {
        let release =
            page.call::<IgnoredAny>(&frame.session, "Runtime.releaseObjectGroup", release, until);
        let asking =
            page.call::<Evaluated<Marked>>(&frame.session, "Runtime.evaluate", params, until);
        join!(release, asking).1
    };
    let Ok(Outcome::Value(evaluated)) = page.while_shown(frame, asking).await else { return marks };
    let mut word = String::new();
    for entry in evaluated.result.deep_serialized_value.into_iter().flat_map(|all| all.value) {
        match entry.value {
            Value::Word(next) => word = next,
            Value::Node(node) => {
                let mut id = node.backend_node_id;
                if word == "focused within" {
                    let inner = focused(page, frame, world, node, until);
                    if let Ok(Outcome::Value(inner)) = page.while_shown(frame, inner).await {
                        id = inner;
                    }
                }
                marks.entry(id).or_default().extend(mark(&word));
            }
        }
    }
    marks
}

/// How the browser describes elements in answers to scripts.
fn as_ids() -> serde_json::Value {
    let nodes = json!({ "maxNodeDepth": 0, "includeShadowTree": "none" });
    json!({ "serialization": "deep", "maxDepth": 2, "additionalParameters": nodes })
}

/// The element with the focus in the closed shadow root of an element, or that element.
async fn focused(
    page: &Page,
    frame: &Frame,
    world: i64,
    mut host: Node,
    until: Instant,
) -> Result<i64, BrowserError> {
    #[derive(Deserialize)]
    struct Resolved {
        object: Object,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Object {
        object_id: String,
    }
    for _ in 0..MAX_CLOSED {
        let Some(root) = host.root() else { break };
        let params = json!({
            "backendNodeId": root, "executionContextId": world, "objectGroup": GROUP,
        });
        let root: Resolved = page.call(&frame.session, "DOM.resolveNode", params, until).await?;
        let params = json!({
            "objectId": root.object.object_id,
            "functionDeclaration": "function() { return this.activeElement }",
            "objectGroup": GROUP,
            "serializationOptions": as_ids(),
        });
        let asked: Evaluated<Inner> =
            page.call(&frame.session, "Runtime.callFunctionOn", params, until).await?;
        let inner = asked.result.deep_serialized_value.and_then(|inner| inner.value);
        let Some(inner) = inner else { break };
        host = *inner;
    }
    Ok(host.backend_node_id)
}

fn mark(word: &str) -> Option<Mark> {
    Some(match word {
        "focused" | "focused within" => Mark::Focused,
        "indeterminate" => Mark::Indeterminate,
        "invalid" => Mark::Invalid,
        "ruled" => Mark::Ruled,
        _ => return None,
    })
}
