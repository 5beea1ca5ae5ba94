//! What Chromium reports about the documents of a page: their nodes and how they are laid out.

use serde::Deserialize;

/// The answer to `DOMSnapshot.captureSnapshot` with the styles of [`Capture::STYLES`].
#[derive(Deserialize, Default)]
pub(crate) struct Capture {
    documents: Vec<CapturedDocument>,
    strings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CapturedDocument {
    frame_id: i64,
    title: i64,
    nodes: CapturedNodes,
    layout: CapturedLayout,
    #[serde(default)]
    text_boxes: CapturedLines,
    #[serde(default)]
    scroll_offset_y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CapturedNodes {
    parent_index: Vec<i64>,
    node_type: Vec<i64>,
    node_name: Vec<i64>,
    node_value: Vec<i64>,
    backend_node_id: Vec<i64>,
    attributes: Vec<Vec<i64>>,
    #[serde(default)]
    text_value: RareStrings,
    #[serde(default)]
    input_value: RareStrings,
    #[serde(default)]
    pseudo_type: RareStrings,
    #[serde(default)]
    shadow_root_type: RareStrings,
    #[serde(default)]
    input_checked: RareFlags,
    #[serde(default)]
    option_selected: RareFlags,
    #[serde(default)]
    is_clickable: RareFlags,
    #[serde(default)]
    content_document_index: RareIndexes,
}

#[derive(Deserialize, Default)]
struct RareStrings {
    index: Vec<usize>,
    value: Vec<i64>,
}

#[derive(Deserialize, Default)]
struct RareFlags {
    index: Vec<usize>,
}

#[derive(Deserialize, Default)]
struct RareIndexes {
    index: Vec<usize>,
    value: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CapturedLayout {
    node_index: Vec<usize>,
    styles: Vec<Vec<i64>>,
    bounds: Vec<Vec<f64>>,
    text: Vec<i64>,
}

/// The lines of the texts.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct CapturedLines {
    layout_index: Vec<usize>,
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    Document,
    Element,
    /// Text of the document, or generated content such as that of `::before`.
    Text,
    /// A comment and the like.
    #[default]
    Other,
}

/// A node of a document. Nodes of shadow trees are where they are shown.
#[derive(Debug, Default)]
pub(crate) struct DomNode<'a> {
    pub kind: Kind,
    /// The tag name: upper case for HTML.
    pub tag: &'a str,
    /// The text of a text node in the document.
    pub source_text: &'a str,
    /// The text as it is shown.
    pub text: &'a str,
    pub attributes: Vec<(&'a str, &'a str)>,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    pub backend_id: i64,
    /// Where and how it is shown, if it has a box.
    pub layout: Option<NodeLayout>,
    /// The content of a field.
    pub value: &'a str,
    pub checked: bool,
    pub selected: bool,
    /// Whether it handles clicks itself, not only an ancestor.
    pub clickable: bool,
    /// The number of lines that a text is on.
    pub lines: usize,
    /// Whether it belongs to a shadow tree.
    pub in_shadow: bool,
}

/// How a node takes part in the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Display {
    /// A part of the text.
    Inline,
    /// A box on a line of text.
    InlineBox,
    /// A box with separate lines.
    Block,
}

/// Where and how a node is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeLayout {
    pub display: Display,
    /// Whether the mouse pointer is a hand over it.
    pub hand: bool,
    pub visible: bool,
    /// Whether it is drawn above everything else: a modal dialog or a popover.
    pub on_top: bool,
    pub inert: bool,
    /// Whether its text is drawn as dots.
    pub concealed: bool,
    /// Its upper edge relative to the viewport.
    pub top: f64,
    /// Whether it has an area.
    pub area: bool,
}

impl<'a> DomNode<'a> {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(its, _)| *its == name).map(|(_, value)| *value)
    }

    /// The value of an attribute that is not blank.
    pub fn words(&self, name: &str) -> Option<&'a str> {
        self.attribute(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// Whether an attribute has this value, in any case.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.attribute(name).is_some_and(|its| its.trim().eq_ignore_ascii_case(value))
    }

    pub fn is_visible(&self) -> bool {
        self.layout.is_some_and(|layout| layout.visible)
    }
}

impl Capture {
    pub const STYLES: [&str; 6] =
        ["display", "cursor", "visibility", "overlay", "interactivity", "-webkit-text-security"];

    /// The document of a frame, by its index.
    pub fn document_of(&self, frame: &str) -> Option<usize> {
        self.documents.iter().position(|document| self.string(document.frame_id) == frame)
    }

    /// The title of a document.
    pub fn title(&self, document: usize) -> &str {
        self.documents.get(document).map_or("", |document| self.string(document.title))
    }

    /// The element of another document of this capture that shows a document: the frame of the
    /// element, and its backend id.
    pub fn owner(&self, document: usize) -> Option<(&str, i64)> {
        self.documents.iter().find_map(|outer| {
            let shown = &outer.nodes.content_document_index;
            let mut pairs = shown.index.iter().zip(&shown.value);
            let (element, _) = pairs.find(|(_, inner)| **inner == document)?;
            let id = outer.nodes.backend_node_id.get(*element).copied()?;
            Some((self.string(outer.frame_id), id))
        })
    }

    /// The nodes of a document, parents before children. Data missing in the answer is missing in
    /// the nodes.
    pub fn nodes(&self, document: usize) -> Vec<DomNode<'_>> {
        let Some(document) = self.documents.get(document) else { return Vec::new() };
        let captured = &document.nodes;
        let mut nodes: Vec<DomNode<'_>> = Vec::with_capacity(captured.parent_index.len());
        for (index, parent) in captured.parent_index.iter().enumerate() {
            // A parent comes before its children, so there are no cycles.
            let parent = usize::try_from(*parent).ok().filter(|parent| *parent < index);
            if let Some(parent) = parent.and_then(|parent| nodes.get_mut(parent)) {
                parent.children.push(index);
            }
            let text = |of: &[i64]| of.get(index).map_or("", |string| self.string(*string));
            let attributes = captured.attributes.get(index).into_iter().flat_map(|all| {
                all.chunks_exact(2).filter_map(|pair| match pair {
                    [name, value] => Some((self.string(*name), self.string(*value))),
                    _ => None,
                })
            });
            nodes.push(DomNode {
                kind: match captured.node_type.get(index) {
                    Some(1) => Kind::Element,
                    Some(3) => Kind::Text,
                    Some(9) => Kind::Document,
                    _ => Kind::Other,
                },
                tag: text(&captured.node_name),
                source_text: text(&captured.node_value),
                attributes: attributes.collect(),
                parent,
                backend_id: captured.backend_node_id.get(index).copied().unwrap_or_default(),
                ..DomNode::default()
            });
        }
        self.add_values(captured, &mut nodes);
        self.put_last(captured, &mut nodes);
        self.add_layout(document, &mut nodes);
        Self::count_lines(document, &mut nodes);
        nodes
    }

    fn add_values<'a>(&'a self, captured: &CapturedNodes, nodes: &mut [DomNode<'a>]) {
        for values in [&captured.text_value, &captured.input_value] {
            for (index, value) in values.index.iter().zip(&values.value) {
                if let Some(node) = nodes.get_mut(*index) {
                    node.value = self.string(*value);
                }
            }
        }
        for (index, kind) in captured.pseudo_type.index.iter().zip(&captured.pseudo_type.value) {
            if let Some(node) = nodes.get_mut(*index) {
                // The bullet or number of a list item is no content.
                let content = matches!(self.string(*kind), "before" | "after" | "first-letter");
                node.kind = if content { Kind::Text } else { Kind::Other };
            }
        }
        let flag = |indexes: &[usize], nodes: &mut [DomNode<'a>], set: fn(&mut DomNode<'a>)| {
            for index in indexes {
                if let Some(node) = nodes.get_mut(*index) {
                    set(node);
                }
            }
        };
        flag(&captured.input_checked.index, nodes, |node| node.checked = true);
        flag(&captured.option_selected.index, nodes, |node| node.selected = true);
        flag(&captured.is_clickable.index, nodes, |node| node.clickable = true);
        flag(&captured.shadow_root_type.index, nodes, |node| node.in_shadow = true);
    }

    fn count_lines(document: &CapturedDocument, nodes: &mut [DomNode<'_>]) {
        for row in &document.text_boxes.layout_index {
            let node = document.layout.node_index.get(*row).and_then(|at| nodes.get_mut(*at));
            if let Some(node) = node {
                node.lines += 1;
            }
        }
    }

    /// Moves what is shown after the content of an element to its end.
    fn put_last(&self, captured: &CapturedNodes, nodes: &mut [DomNode<'_>]) {
        for (index, kind) in captured.pseudo_type.index.iter().zip(&captured.pseudo_type.value) {
            let parent = nodes.get(*index).and_then(|node| node.parent);
            let parent = parent.filter(|_| self.string(*kind) == "after");
            if let Some(parent) = parent.and_then(|parent| nodes.get_mut(parent)) {
                parent.children.retain(|child| child != index);
                parent.children.push(*index);
            }
        }
    }

    fn add_layout<'a>(&'a self, document: &CapturedDocument, nodes: &mut [DomNode<'a>]) {
        let layout = &document.layout;
        let rows = layout.node_index.iter().zip(&layout.styles).zip(&layout.bounds);
        for (((index, styles), bounds), text) in rows.zip(&layout.text) {
            let Some(node) = nodes.get_mut(*index) else { continue };
            let text = self.string(*text);
            if !text.is_empty() {
                node.text = text;
            }
            if node.layout.is_some() {
                continue;
            }
            let style = |at: usize| styles.get(at).map_or("", |string| self.string(*string));
            node.layout = Some(NodeLayout {
                display: match style(0) {
                    "inline" | "contents" | "ruby" | "" => Display::Inline,
                    display if display.starts_with("inline") => Display::InlineBox,
                    _ => Display::Block,
                },
                hand: style(1) == "pointer",
                visible: style(2) == "visible",
                on_top: style(3) == "auto",
                inert: style(4) == "inert",
                concealed: !matches!(style(5), "none" | ""),
                top: bounds.get(1).map_or(0.0, |top| top - document.scroll_offset_y),
                area: bounds.get(2..4).is_some_and(|size| !size.contains(&0.0)),
            });
        }
    }

    fn string(&self, index: i64) -> &str {
        usize::try_from(index).ok().and_then(|index| self.strings.get(index)).map_or("", |s| s)
    }
}
