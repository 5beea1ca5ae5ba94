//! Documents for tests of what is computed from them.

use std::collections::HashMap;

use super::{
    capture::{Display, DomNode, Kind, NodeLayout},
    dom::Dom,
};

/// A document to which nodes are added. Node 0 is the document itself.
pub(super) struct Fixture {
    pub nodes: Vec<DomNode<'static>>,
}

impl Default for Fixture {
    fn default() -> Self {
        Self { nodes: vec![DomNode { kind: Kind::Document, ..DomNode::default() }] }
    }
}

impl Fixture {
    /// Adds an element with attributes as in `type=text placeholder=Your_name`.
    pub fn element(&mut self, parent: usize, tag: &'static str, attributes: &'static str) -> usize {
        let attributes = attributes.split_ascii_whitespace();
        let attributes = attributes.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name, value.replace('_', " ").leak() as &str)
        });
        let inline = ["A", "B", "BUTTON", "EM", "INPUT", "LABEL", "SPAN", "IMG"].contains(&tag);
        let display = if inline { Display::Inline } else { Display::Block };
        self.add(DomNode {
            kind: Kind::Element,
            tag,
            attributes: attributes.collect(),
            parent: Some(parent),
            layout: Some(layout(display)),
            ..DomNode::default()
        })
    }

    pub fn text(&mut self, parent: usize, text: &'static str) -> usize {
        self.add(DomNode {
            kind: Kind::Text,
            text,
            source_text: text,
            parent: Some(parent),
            layout: Some(layout(Display::Inline)),
            ..DomNode::default()
        })
    }

    /// Takes the box of a node, as `display: none` does.
    pub fn hide(&mut self, index: usize) {
        self.nodes[index].layout = None;
    }

    pub fn dom(self) -> Dom<'static> {
        Dom::new(self.nodes, HashMap::new())
    }

    fn add(&mut self, node: DomNode<'static>) -> usize {
        let index = self.nodes.len();
        if let Some(parent) = node.parent {
            self.nodes[parent].children.push(index);
        }
        self.nodes.push(DomNode { backend_id: i64::try_from(index).unwrap_or_default(), ..node });
        index
    }
}

fn layout(display: Display) -> NodeLayout {
    NodeLayout {
        display,
        hand: false,
        visible: true,
        on_top: false,
        inert: false,
        concealed: false,
        top: 0.0,
        area: true,
    }
}
