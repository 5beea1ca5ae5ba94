//! States of elements that only a script in their document can tell.

use std::{collections::HashMap, time::Instant};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;
use tokio::join;

use super::dom::Mark;
use crate::{
    page::{Frame, Page},
    world::Outcome,
};

/// The objects that one snapshot keeps in the browser until the next one.
const GROUP: &str = "helmdeck-marks";

/// The answer to a call of `helmdeck.marks`: pairs of a word and an element.
#[derive(Deserialize)]
struct Evaluated {
    result: Marked,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Marked {
    deep_serialized_value: Option<Serialized>,
}

#[derive(Deserialize)]
struct Serialized {
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
    #[serde(rename_all = "camelCase")]
    Node {
        backend_node_id: i64,
    },
}

/// The marks of a frame's elements by backend id. None in a frame that disappears.
pub(super) async fn marks(
    page: &Page,
    frame: &Frame,
    deadline: Instant,
) -> HashMap<i64, Vec<Mark>> {
    let mut marks = HashMap::<i64, Vec<Mark>>::new();
    let Ok(Outcome::Value(world)) = page.world(frame, deadline).await else { return marks };
    let node = json!({ "maxNodeDepth": 0, "includeShadowTree": "none" });
    let params = json!({
        "expression": "helmdeck.marks()",
        "contextId": world,
        "objectGroup": GROUP,
        "serializationOptions": {
            "serialization": "deep", "maxDepth": 2, "additionalParameters": node,
        },
    });
    let release = json!({ "objectGroup": GROUP });
    let (_, evaluated) = join!(
        page.call::<IgnoredAny>(&frame.session, "Runtime.releaseObjectGroup", release, deadline),
        page.call::<Evaluated>(&frame.session, "Runtime.evaluate", params, deadline),
    );
    let marked = evaluated.ok().and_then(|evaluated| evaluated.result.deep_serialized_value);
    let mut word = None;
    for entry in marked.into_iter().flat_map(|marked| marked.value) {
        match entry.value {
            Value::Word(next) => word = mark(&next),
            Value::Node { backend_node_id } => {
                marks.entry(backend_node_id).or_default().extend(word.take());
            }
        }
    }
    marks
}

fn mark(word: &str) -> Option<Mark> {
    Some(match word {
        "focused" => Mark::Focused,
        "indeterminate" => Mark::Indeterminate,
        "invalid" => Mark::Invalid,
        "ruled" => Mark::Ruled,
        _ => return None,
    })
}
