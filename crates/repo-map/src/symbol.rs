//! The symbols of one file.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::{
    Language,
    language::{Definition, Tables},
};

/// How long one file may take.
const FILE_LIMIT: Duration = Duration::from_secs(2);
/// Longest signature.
const MAX_SIGNATURE: usize = 160;
/// Longest name.
const MAX_NAME: usize = 120;
/// Endings of files that declare what is defined elsewhere.
const HEADERS: [&str; 4] = [".h", ".hh", ".hpp", ".hxx"];
/// How deep declarators are nested.
const MAX_DECLARATORS: usize = 32;

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A function outside types.
    Function,
    /// A function of a type.
    Method,
    /// A type: struct, class, interface, enum, alias.
    Type,
    /// A macro.
    Macro,
    /// A constant.
    Constant,
    /// A block that only holds symbols, such as `impl`.
    Block,
}

impl Kind {
    /// Whether it is a symbol by itself.
    pub fn is_listed(self) -> bool {
        self != Self::Block
    }
}

/// A symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Line, from 1.
    pub line: usize,
    /// Its declaration without the body, on one line.
    pub signature: String,
    /// The symbol that it is in, by its number in the file.
    pub parent: Option<usize>,
}

/// The symbols of a source, and how often each identifier occurs. `None` if it takes too long.
pub fn symbols(
    language: &'static Language,
    path: &str,
    source: &[u8],
) -> Option<(Vec<Symbol>, BTreeMap<String, usize>)> {
    let tables = language.tables();
    let tree = parse(tables, source)?;
    let mut reader = Reader {
        tables,
        source,
        is_header: HEADERS.iter().any(|ending| path.ends_with(ending)),
        found: Vec::new(),
        open: Vec::new(),
    };
    let mut identifiers: BTreeMap<String, usize> = BTreeMap::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        reader.enter(node);
        let is_identifier = tables.identifiers.get(usize::from(node.kind_id()));
        if is_identifier == Some(&true)
            && let Ok(name) = node.utf8_text(source)
            && name.len() <= MAX_NAME
        {
            *identifiers.entry(name.to_owned()).or_default() += 1;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some((reader.found, identifiers));
            }
        }
    }
}

fn parse(tables: &Tables, source: &[u8]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tables.language).ok()?;
    let end = Instant::now() + FILE_LIMIT;
    let mut in_time = |_: &tree_sitter::ParseState| match Instant::now() < end {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let mut rest = |start: usize, _: tree_sitter::Point| source.get(start..).unwrap_or_default();
    parser.parse_with_options(&mut rest, None, Some(options))
}

/// Collects symbols in the order of the source.
struct Reader<'a> {
    tables: &'a Tables,
    source: &'a [u8],
    is_header: bool,
    found: Vec<Symbol>,
    /// Symbols that hold the current node, with their last bytes.
    open: Vec<(usize, usize)>,
}

impl Reader<'_> {
    fn enter(&mut self, node: Node<'_>) {
        while self.open.last().is_some_and(|(_, end)| *end <= node.start_byte()) {
            self.open.pop();
        }
        let Some(definition) = self.tables.definitions.get(&node.kind_id()) else { return };
        let Some((name, kind)) = self.defined(node, *definition) else { return };
        let name: String = String::from_utf8_lossy(name).chars().take(MAX_NAME).collect();
        if name.trim().is_empty() {
            return;
        }
        let parent = self.open.last().map(|(number, _)| *number);
        let holder = parent.and_then(|number| self.found.get(number)).map(|it| it.kind);
        let kind = match (kind, holder) {
            (Kind::Function, Some(Kind::Type | Kind::Block)) => Kind::Method,
            (kind, _) => kind,
        };
        self.open.push((self.found.len(), node.end_byte()));
        let line = node.start_position().row + 1;
        self.found.push(Symbol { name, kind, line, signature: self.signature(node), parent });
    }

    /// The name that a node defines.
    fn defined(&self, node: Node<'_>, definition: Definition) -> Option<(&[u8], Kind)> {
        let field = |name| node.child_by_field_name(name);
        let text = |node: Node<'_>| self.source.get(node.byte_range());
        match definition {
            Definition::Named(kind) => Some((text(field("name")?)?, kind)),
            Definition::WithBody(kind) => {
                field("body")?;
                Some((text(field("name")?)?, kind))
            }
            Definition::Declared(kind) => Some((self.declared(node)?.0, kind)),
            Definition::Prototype => {
                let (name, is_function) = self.declared(node)?;
                let in_type = node.kind() == "field_declaration";
                ((self.is_header || in_type) && is_function).then_some((name, Kind::Function))
            }
            Definition::Variable => {
                let value = field("value")?.kind();
                let is_function = ["arrow_function", "function_expression", "generator_function"]
                    .contains(&value);
                is_function.then_some((text(field("name")?)?, Kind::Function))
            }
            Definition::Block => Some((text(field("type")?)?, Kind::Block)),
        }
    }

    /// The name inside a declarator, and whether it is a function's.
    fn declared(&self, node: Node<'_>) -> Option<(&[u8], bool)> {
        let mut is_function = false;
        let mut inner = node.child_by_field_name("declarator")?;
        for _ in 0..MAX_DECLARATORS {
            is_function |= inner.kind() == "function_declarator";
            let next = inner.child_by_field_name("declarator").or_else(|| match inner.kind() {
                // `A::f` is the `f` of `A`.
                "qualified_identifier" => inner.child_by_field_name("name"),
                kind if kind.ends_with("_declarator") => inner.named_child(0),
                _ => None,
            });
            match next {
                Some(next) => inner = next,
                None => return Some((self.source.get(inner.byte_range())?, is_function)),
            }
        }
        None
    }

    /// The source of a node without its body, on one line.
    fn signature(&self, node: Node<'_>) -> String {
        let body = node.child_by_field_name("body").or_else(|| {
            let value = node.child_by_field_name("value")?;
            value.child_by_field_name("body")
        });
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = self.source.get(node.start_byte()..end).unwrap_or_default();
        // A definition without a body may be long: its first line says what it is.
        let text = match body {
            Some(_) => text,
            None => text.split(|byte| *byte == b'\n').next().unwrap_or_default(),
        };
        let text = text.get(..text.len().min(4 * MAX_SIGNATURE)).unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for mark in ["{", "=>", ":", "=", ";"] {
            line.truncate(line.trim_end_matches(mark).trim_end().len());
        }
        match line.char_indices().nth(MAX_SIGNATURE) {
            Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
            None => line,
        }
    }
}
