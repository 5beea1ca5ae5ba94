//! Lays out the tree as lines: inline content stays on one line.

use super::{
    piece::{Block, CELL, Piece, Run, TEXT, drop_said, is_said, said, unlabelled},
    tree::{Content, Element, Item, Tree},
    words::{join, plain, quoted, tidy},
};

/// Longer lines of text and elements are continued on the next line.
const LONG_LINE: usize = 500;
/// Rows with longer cells are shown cell by cell.
const LONG_ROW: usize = 1000;

/// Limits on the length of texts, in characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub name: usize,
    pub text: usize,
}

impl Limits {
    /// For pages with much text.
    pub const LONG: Self = Self { name: 200, text: 200 };

    /// From unlimited to the smallest useful size.
    pub const LEVELS: [Self; 3] = [
        Self { name: 300, text: 2000 },
        Self { name: 100, text: 150 },
        Self { name: 50, text: 50 },
    ];
}

/// One line of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub depth: usize,
    pub text: String,
    /// The parent line.
    pub parent: Option<usize>,
    /// Identifies the element in all snapshots.
    pub key: u64,
    /// The upper edge relative to the viewport.
    pub top: f64,
    /// Whether it or a descendant can be used.
    pub acts: bool,
}

/// Lays out a tree. `name` returns the ref of a node.
pub(crate) fn lines(tree: &Tree, limits: Limits, name: &dyn Fn(usize, i64) -> String) -> Vec<Line> {
    let layout = Layout { tree, limits, name };
    let Some(root) = tree.items.first() else { return Vec::new() };
    let mut lines = Vec::new();
    flatten(layout.blocks(layout.pieces(root)), 0, None, &mut lines);
    lines
}

fn flatten(blocks: Vec<Block>, depth: usize, parent: Option<usize>, lines: &mut Vec<Line>) {
    for block in blocks {
        let Block { text, below, key, top, acts, .. } = block;
        let index = lines.len();
        lines.push(Line { depth, text, parent, key, top, acts });
        flatten(below, depth + 1, Some(index), lines);
    }
}

struct Layout<'a> {
    tree: &'a Tree,
    limits: Limits,
    name: &'a dyn Fn(usize, i64) -> String,
}

impl Layout<'_> {
    // The tree's depth is limited, and so is this recursion.
    fn pieces(&self, item: &Item) -> Vec<Piece> {
        let children = item.children.iter().filter_map(|child| self.tree.items.get(*child));
        let mut pieces = Vec::new();
        for child in children {
            match &child.what {
                Content::Break => pieces.push(Piece::Break),
                Content::Text(text) => {
                    let (text, key, top) = (text.clone(), child.key, child.top);
                    pieces.push(Piece::Text { text, key, top });
                }
                Content::Element(element) => {
                    pieces.extend(self.element(child, element));
                }
            }
        }
        pieces
    }

    fn element(&self, item: &Item, element: &Element) -> Vec<Piece> {
        let mut pieces = self.pieces(item);
        let role = element.role.as_str();
        let named = role == "img" || element.acts && role != "row";
        if named && !element.name.is_empty() {
            drop_said(&mut pieces, &element.name);
        }
        let block = match role {
            "row" => self.row(item, element, pieces),
            "listitem" => self.listed(item, element, pieces),
            "heading" => self.heading(item, element, pieces),
            "cell" | "gridcell" | "columnheader" | "rowheader" if !element.acts => {
                Some(Block { role: CELL.to_owned(), below: self.cell(pieces), ..Block::default() })
            }
            // The items make clear that this is a list.
            "list" if element.name.is_empty() && !element.acts => return pieces,
            _ => self.other(item, element, pieces),
        };
        let Some(block) = block else { return Vec::new() };
        let inline = element.acts || role == "img";
        if inline && block.below.is_empty() {
            return vec![Piece::Element(block)];
        }
        vec![Piece::Break, Piece::Element(block), Piece::Break]
    }

    /// The line of an element itself.
    fn head(&self, item: &Item, element: &Element, name: &str) -> Block {
        let name = tidy(name, self.limits.name);
        let mut text = element.role.clone();
        if !name.is_empty() {
            text.push(' ');
            text.push_str(&quoted(&name));
        }
        if let Some((frame, id)) = item.node.filter(|_| element.acts) {
            text.push_str(&format!(" [ref={}]", (self.name)(frame, id)));
        }
        for state in &element.states {
            text.push_str(&format!(" [{}]", plain(&tidy(state, self.limits.text))));
        }
        let value = if element.value.is_empty() { &element.handle } else { &element.value };
        let value = tidy(value, self.limits.name);
        if !value.is_empty() {
            text.push_str(": ");
            text.push_str(&plain(&value));
        }
        Block {
            text,
            name,
            role: element.role.clone(),
            key: item.key,
            top: item.top,
            acts: element.acts,
            ..Block::default()
        }
    }

    fn other(&self, item: &Item, element: &Element, pieces: Vec<Piece>) -> Option<Block> {
        let mut below = self.blocks(pieces);
        let bare = element.name.is_empty() && element.value.is_empty();
        if below.is_empty() {
            let silent = bare && !element.acts;
            return (!silent).then(|| self.head(item, element, &element.name));
        }
        let single = below.len() == 1 && below.iter().all(|block| block.below.is_empty());
        if single
            && bare
            && element.role == "generic"
            && below.iter().all(|only| only.acts && !only.prose)
        {
            // A click on the inner element is a click on the outer one.
            return below.pop();
        }
        if let Some(only) = below.pop_if(|_| single && bare) {
            if element.acts && only.prose && !only.acts {
                // An element without a name is named by its content.
                let said = only.text.strip_prefix(TEXT).unwrap_or(&only.text);
                let element = Element { handle: String::new(), ..element.clone() };
                return Some(self.head(item, &element, said));
            }
            let mut head =
                self.head(item, &Element { handle: String::new(), ..element.clone() }, "");
            head.text.push_str(": ");
            head.text.push_str(only.text.strip_prefix(TEXT).unwrap_or(&only.text));
            head.acts |= only.acts;
            return Some(head);
        }
        let mut head = if bare {
            self.head(item, &Element { handle: String::new(), ..element.clone() }, "")
        } else {
            self.head(item, element, &element.name)
        };
        head.below = below;
        Some(head)
    }

    /// A heading: its text, or a line of text and elements.
    fn heading(&self, item: &Item, element: &Element, mut pieces: Vec<Piece>) -> Option<Block> {
        if pieces.iter().any(Piece::is_block) {
            drop_said(&mut pieces, &element.name);
            return self.other(item, element, pieces);
        }
        if pieces.iter().any(|piece| matches!(piece, Piece::Element(_))) {
            let lines = self.cell(pieces);
            let mut head = self.head(item, element, "");
            head.text.push_str(": ");
            head.text.push_str(&in_a_row(&lines));
            head.acts |= lines.iter().any(|line| line.acts);
            return Some(head);
        }
        let said = said(&pieces);
        let name = if element.name.is_empty() { &said } else { &element.name };
        (!name.is_empty()).then(|| self.head(item, element, name))
    }

    /// A list item: its first line begins with a dash.
    fn listed(&self, item: &Item, element: &Element, pieces: Vec<Piece>) -> Option<Block> {
        let mut below = self.cell(pieces);
        if below.is_empty() && !element.acts {
            return None;
        }
        let mut head = self.head(item, element, "");
        let shown = head.text.strip_prefix("listitem").unwrap_or_default().to_owned();
        head.text = format!("-{shown}");
        if !below.is_empty() {
            let first = below.remove(0);
            head.text.push(' ');
            head.text.push_str(first.text.strip_prefix(TEXT).unwrap_or(&first.text));
            head.acts |= first.acts;
            head.below = first.below;
            head.below.extend(below);
        }
        Some(head)
    }

    /// A table row: its cells on one line, if they fit.
    fn row(&self, item: &Item, element: &Element, pieces: Vec<Piece>) -> Option<Block> {
        let mut cells: Vec<Vec<Block>> = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Element(block) if block.role == CELL => cells.push(block.below),
                Piece::Element(block) => cells.push(vec![block]),
                Piece::Text { text, key, top } if !text.trim().is_empty() => {
                    cells.push(vec![self.prose(&text, key, top)]);
                }
                Piece::Text { .. } | Piece::Break => {}
            }
        }
        if cells.iter().all(Vec::is_empty) && !element.acts {
            return None;
        }
        let mut head = self.head(item, element, "");
        let shown = head.text.strip_prefix("row").unwrap_or_default().to_owned();
        head.text = if shown.is_empty() { "|".to_owned() } else { format!("row{shown}:") };
        let flat = cells.iter().flatten().all(|block| block.below.is_empty());
        let length: usize = cells.iter().flatten().map(|block| block.text.len()).sum();
        if flat && length <= LONG_ROW {
            let cells: Vec<String> = cells.iter().map(|cell| in_a_row(cell)).collect();
            head.acts |= cells.iter().any(|cell| cell.contains("[ref="));
            head.text.push(' ');
            head.text.push_str(cells.join(" | ").trim_end());
        } else {
            head.text = format!("row{shown}");
            head.below = cells.into_iter().flatten().collect();
        }
        Some(head)
    }

    /// The content of a cell or list item: one line, unless it contains a block.
    fn cell(&self, pieces: Vec<Piece>) -> Vec<Block> {
        if pieces.iter().any(Piece::is_block) {
            return self.blocks(pieces);
        }
        let mut run = Run::default();
        for piece in pieces {
            match piece {
                Piece::Break => run.add(Piece::Text { text: " ".to_owned(), key: 0, top: 0.0 }),
                piece => run.add(piece),
            }
        }
        self.in_one_line(&mut run)
    }

    /// The lines of an element's content.
    fn blocks(&self, pieces: Vec<Piece>) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut run = Run::default();
        for piece in pieces {
            match piece {
                Piece::Break => blocks.append(&mut self.end(&mut run)),
                Piece::Element(block) if block.role == CELL => blocks.extend(block.below),
                Piece::Element(block) if !block.below.is_empty() => {
                    blocks.append(&mut self.end(&mut run));
                    blocks.push(block);
                }
                piece => run.add(piece),
            }
        }
        blocks.append(&mut self.end(&mut run));
        unlabelled(blocks)
    }

    /// The lines of an inline run: one with text and elements mixed, or one for each element.
    fn end(&self, run: &mut Run) -> Vec<Block> {
        if run.has_words() {
            return self.in_one_line(run);
        }
        std::mem::take(&mut run.pieces).into_iter().filter_map(Piece::element).collect()
    }

    fn in_one_line(&self, run: &mut Run) -> Vec<Block> {
        let mut lines: Vec<Block> = Vec::new();
        let pieces = std::mem::take(&mut run.pieces);
        if !pieces.iter().any(|piece| matches!(piece, Piece::Text { text, .. } if is_said(text)))
            && pieces.iter().filter(|piece| matches!(piece, Piece::Element(_))).count() == 1
        {
            return pieces.into_iter().filter_map(Piece::element).collect();
        }
        let mut fresh = true;
        for piece in pieces {
            let next = match piece {
                Piece::Text { text, key, top } => self.prose(&text, key, top),
                Piece::Element(block) => block,
                Piece::Break => continue,
            };
            let word = next.text.strip_prefix(TEXT).filter(|_| next.prose).unwrap_or(&next.text);
            if word.is_empty() {
                continue;
            }
            match lines.last_mut().filter(|_| !fresh) {
                Some(line) => {
                    join(&mut line.text, word);
                    line.acts |= next.acts;
                    fresh = line.text.len() > LONG_LINE;
                }
                None => {
                    let text = format!("{TEXT}{word}");
                    let Block { key, top, acts, .. } = next;
                    fresh = text.len() > LONG_LINE;
                    lines.push(Block { text, key, top, acts, prose: true, ..Block::default() });
                }
            }
        }
        lines
    }

    fn prose(&self, text: &str, key: u64, top: f64) -> Block {
        let text = format!("{TEXT}{}", plain(&tidy(text, self.limits.text)));
        Block { text, key, top, prose: true, ..Block::default() }
    }
}

fn in_a_row(cell: &[Block]) -> String {
    let mut line = String::new();
    for block in cell {
        join(&mut line, block.text.strip_prefix(TEXT).unwrap_or(&block.text));
    }
    line
}
