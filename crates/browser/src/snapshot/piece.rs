//! The content of an element before layout: texts and elements in order, without duplicates.

use super::words::tidy;

/// The internal role of a cell; never shown.
pub(super) const CELL: &str = " cell";
/// The prefix of a line of text.
pub(super) const TEXT: &str = "text: ";

/// A line and its child lines.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub text: String,
    /// The name, for elements.
    pub name: String,
    pub role: String,
    pub below: Vec<Block>,
    pub key: u64,
    pub top: f64,
    pub acts: bool,
    /// Whether it is text that may contain elements.
    pub prose: bool,
}

/// Content of an element, in order.
pub(super) enum Piece {
    Text { text: String, key: u64, top: f64 },
    Element(Block),
    Break,
}

/// Removes texts that only label the control after them.
pub(super) fn unlabelled(blocks: Vec<Block>) -> Vec<Block> {
    let mut kept: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let label = kept.pop_if(|before| {
            let said = before.text.strip_prefix(TEXT).unwrap_or_default();
            before.prose && !before.acts && labels(said, &block)
        });
        drop(label);
        kept.push(block);
    }
    kept
}

/// Whether a text is the label of a control.
fn labels(text: &str, control: &Block) -> bool {
    const CONTROLS: [&str; 11] = [
        "textbox",
        "searchbox",
        "checkbox",
        "radio",
        "switch",
        "combobox",
        "listbox",
        "slider",
        "spinbutton",
        "date",
        "color",
    ];
    let bare = |text: &str| text.trim().trim_end_matches([':', '*', ' ']).to_lowercase();
    CONTROLS.contains(&control.role.as_str())
        && !control.name.is_empty()
        && bare(text) == bare(&control.name)
}

/// Removes texts that the name of the surrounding element already contains.
pub(super) fn drop_said(pieces: &mut Vec<Piece>, name: &str) {
    pieces.retain(|piece| match piece {
        Piece::Text { text, .. } => !name.contains(&tidy(text, usize::MAX)),
        Piece::Element(block) => !is_said_by(block, name),
        Piece::Break => true,
    });
}

fn is_said_by(block: &Block, name: &str) -> bool {
    let words = if block.prose { block.text.strip_prefix(TEXT).unwrap_or("") } else { &block.name };
    !block.acts && name.contains(words) && block.below.iter().all(|below| is_said_by(below, name))
}

/// Whether a text has visible content.
pub(super) fn is_said(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Inline texts and elements that share a line on the page.
#[derive(Default)]
pub(super) struct Run {
    pub pieces: Vec<Piece>,
}

impl Run {
    pub fn add(&mut self, piece: Piece) {
        if let Piece::Element(control) = &piece {
            let label = |before: &mut Piece| matches!(before, Piece::Text { text, .. } if labels(text, control));
            self.pieces.pop_if(label);
        }
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Text { text, .. }), Piece::Text { text: more, key, top })
                if text.trim().is_empty() =>
            {
                let text = format!("{text}{more}");
                self.pieces.pop();
                self.pieces.push(Piece::Text { text, key, top });
            }
            (Some(Piece::Text { text, .. }), Piece::Text { text: more, .. }) => {
                text.push_str(&more);
            }
            (Some(Piece::Element(control)), Piece::Text { text, .. }) if labels(&text, control) => {
            }
            (_, piece) => self.pieces.push(piece),
        }
    }

    /// Whether there is real text, and not only separators between elements.
    pub fn has_words(&self) -> bool {
        let alone = !self.pieces.iter().any(|piece| matches!(piece, Piece::Element(_)));
        let mark = |c: char| c.is_whitespace() || c.is_ascii_punctuation() || "·•–—›»«".contains(c);
        self.pieces.iter().any(|piece| match piece {
            Piece::Text { text, .. } if alone => is_said(text),
            Piece::Text { text, .. } => !text.chars().all(mark),
            Piece::Element(_) | Piece::Break => false,
        })
    }
}

impl Piece {
    /// Whether it needs separate lines.
    pub fn is_block(&self) -> bool {
        matches!(self, Self::Element(block) if !block.below.is_empty() || block.role == "listitem")
    }

    pub fn element(self) -> Option<Block> {
        match self {
            Self::Element(block) => Some(block),
            Self::Text { .. } | Self::Break => None,
        }
    }
}

/// The texts alone, without elements.
pub(super) fn said(pieces: &[Piece]) -> String {
    let mut said = String::new();
    for piece in pieces {
        match piece {
            Piece::Text { text, .. } => said.push_str(text),
            Piece::Break => said.push(' '),
            Piece::Element(_) => {}
        }
    }
    tidy(&said, usize::MAX)
}
