//! What Chromium reports about a page: the accessibility tree, and what that tree leaves out.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::words::tidy;

/// The answer to `Accessibility.getFullAXTree`.
#[derive(Deserialize)]
pub(crate) struct AxTree {
    pub nodes: Vec<AxNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AxNode {
    pub node_id: String,
    #[serde(default)]
    pub ignored: bool,
    #[serde(default, deserialize_with = "text")]
    pub role: String,
    #[serde(default, deserialize_with = "text")]
    pub name: String,
    #[serde(default, deserialize_with = "text")]
    pub value: String,
    #[serde(default, deserialize_with = "properties")]
    pub properties: HashMap<String, String>,
    #[serde(default)]
    pub child_ids: Vec<String>,
    #[serde(default, rename = "backendDOMNodeId")]
    pub backend_id: Option<i64>,
}

impl AxNode {
    /// Whether a boolean property is set.
    pub fn is(&self, property: &str) -> bool {
        self.properties.get(property).is_some_and(|value| value == "true")
    }
}

#[derive(Deserialize)]
struct AxValue {
    #[serde(default)]
    value: Value,
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    AxValue::deserialize(deserializer).map(|value| said(value.value))
}

fn properties<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<HashMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    struct Property {
        name: String,
        value: AxValue,
    }
    let properties = Vec::<Property>::deserialize(deserializer)?.into_iter();
    Ok(properties.map(|property| (property.name, said(property.value.value))).collect())
}

fn said(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

/// The answer to `DOMSnapshot.captureSnapshot` with the styles of [`Captured::STYLES`].
#[derive(Deserialize)]
pub(crate) struct Captured {
    documents: Vec<CapturedDocument>,
    strings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CapturedDocument {
    nodes: CapturedNodes,
    layout: CapturedLayout,
    #[serde(default)]
    scroll_offset_y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CapturedNodes {
    parent_index: Vec<i64>,
    node_name: Vec<i64>,
    backend_node_id: Vec<i64>,
    attributes: Vec<Vec<i64>>,
    is_clickable: Rare,
}

#[derive(Deserialize)]
struct Rare {
    index: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CapturedLayout {
    node_index: Vec<usize>,
    styles: Vec<Vec<i64>>,
    bounds: Vec<Vec<f64>>,
}

/// Facts about an element that the accessibility tree does not contain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The parent element.
    pub parent: Option<i64>,
    /// The upper-case tag name.
    pub tag: String,
    /// Whether it is displayed inline.
    pub inline: bool,
    /// Whether it handles clicks itself, not only an ancestor.
    pub clickable: bool,
    /// Whether it changes the mouse pointer to a hand, unlike its parent.
    pub hand: bool,
    /// Whether `tabindex` makes it focusable.
    pub tab_stop: bool,
    pub password: bool,
    pub placeholder: String,
    /// The target of a link as written in the page.
    pub href: String,
    /// An id or class, for elements without a name.
    pub handle: String,
    /// Its upper edge relative to the viewport, if it is rendered.
    pub top: Option<f64>,
    /// Whether it is visible and has an area.
    pub shown: bool,
}

impl Captured {
    pub const STYLES: [&str; 3] = ["display", "cursor", "visibility"];

    /// The facts of all elements in the session's frames, by backend id. Data missing in the answer
    /// is missing in the facts.
    pub fn facts(&self) -> HashMap<i64, Facts> {
        let mut facts = HashMap::new();
        for document in &self.documents {
            self.add(document, &mut facts);
        }
        facts
    }

    fn add(&self, document: &CapturedDocument, all: &mut HashMap<i64, Facts>) {
        let nodes = &document.nodes;
        let mut facts: Vec<Facts> = nodes.attributes.iter().map(|at| self.attributes(at)).collect();
        for (fact, name) in facts.iter_mut().zip(&nodes.node_name) {
            self.string(*name).clone_into(&mut fact.tag);
        }
        for index in &nodes.is_clickable.index {
            if let Some(fact) = facts.get_mut(*index) {
                fact.clickable = true;
            }
        }
        let mut hands = vec![false; facts.len()];
        let layout = &document.layout;
        for ((index, styles), bounds) in
            layout.node_index.iter().zip(&layout.styles).zip(&layout.bounds)
        {
            let Some(fact) = facts.get_mut(*index) else { continue };
            let style = |at: usize| styles.get(at).map_or("", |string| self.string(*string));
            let display = style(0);
            fact.inline =
                display.starts_with("inline") || matches!(display, "contents" | "ruby" | "");
            if let Some(hand) = hands.get_mut(*index) {
                *hand = style(1) == "pointer";
            }
            fact.top = bounds.get(1).map(|top| top - document.scroll_offset_y);
            let area = bounds.get(2..4).is_some_and(|size| !size.contains(&0.0));
            fact.shown = area && style(2) == "visible";
        }
        for (index, mut fact) in facts.into_iter().enumerate() {
            let parent = nodes.parent_index.get(index).and_then(|at| usize::try_from(*at).ok());
            let hand = |at: usize| hands.get(at).is_some_and(|hand| *hand);
            fact.hand = hand(index) && !parent.is_some_and(hand);
            fact.parent = parent.and_then(|at| nodes.backend_node_id.get(at)).copied();
            if let Some(id) = nodes.backend_node_id.get(index) {
                all.insert(*id, fact);
            }
        }
    }

    fn attributes(&self, attributes: &[i64]) -> Facts {
        let mut facts = Facts::default();
        for pair in attributes.chunks_exact(2) {
            let &[name, value] = pair else { continue };
            let value = self.string(value);
            match self.string(name) {
                "type" => facts.password |= value.eq_ignore_ascii_case("password"),
                // A field with a secret: see `conceal` of `element.js`.
                "style" => facts.password |= value.contains("-webkit-text-security"),
                "placeholder" => facts.placeholder = tidy(value, 60),
                "href" => facts.href = tidy(value, 200),
                "tabindex" => facts.tab_stop = value.parse::<i32>().is_ok_and(|index| index >= 0),
                "id" if !value.is_empty() => facts.handle = format!("#{}", tidy(value, 40)),
                "class" if facts.handle.is_empty() && !value.is_empty() => {
                    facts.handle = format!(".{}", tidy(value, 40).replace(' ', "."));
                }
                _ => {}
            }
        }
        facts
    }

    fn string(&self, index: i64) -> &str {
        usize::try_from(index).ok().and_then(|index| self.strings.get(index)).map_or("", |s| s)
    }
}
