//! The text of a map, within a budget.

use std::collections::{BTreeMap, BTreeSet};

use crate::{FileSymbols, Symbol, rank::Place};

/// Bytes of a token. Source code has about that many.
const TOKEN: usize = 4;

/// The text of a map.
#[derive(Debug, Default)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// How many files it has.
    pub files: usize,
    /// How many symbols it has.
    pub symbols: usize,
}

/// How many tokens so many bytes are.
pub fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(TOKEN)
}

/// Renders the symbols that fit, best first. A budget of 0 is no limit.
pub fn render(files: &[FileSymbols], ranked: &[(Place, f64)], budget: usize) -> Rendered {
    let room = if budget == 0 { usize::MAX } else { budget.saturating_mul(TOKEN) };
    let mut chosen: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
    let mut used = 0_usize;
    for ((number, at), score) in ranked {
        let Some(file) = files.get(*number) else { continue };
        let mut cost = if chosen.contains_key(number) { 0 } else { header(file).len() };
        let mut added = Vec::new();
        // A symbol is shown with what it is in.
        let mut next = Some(*at);
        while let Some(symbol) = next.and_then(|at| file.symbols.get(at).map(|it| (at, it))) {
            let (at, symbol) = symbol;
            let is_shown = chosen.get(number).is_some_and(|shown| shown.contains(&at));
            if is_shown || added.len() > MAX_DEPTH {
                break;
            }
            cost += line(symbol, depth(file, symbol)).len();
            added.push(at);
            next = symbol.parent;
        }
        if added.is_empty() || used.saturating_add(cost) > room {
            continue;
        }
        used += cost;
        chosen.entry(*number).or_default().extend(added);
        *scores.entry(*number).or_default() += score;
    }
    let mut order: Vec<_> = scores.into_iter().collect();
    order.sort_by(|(a, one), (b, other)| other.total_cmp(one).then_with(|| a.cmp(b)));
    let mut rendered = Rendered { files: order.len(), ..Rendered::default() };
    for (number, _) in order {
        let (Some(file), Some(shown)) = (files.get(number), chosen.get(&number)) else { continue };
        rendered.text += &header(file);
        for symbol in shown.iter().filter_map(|at| file.symbols.get(*at)) {
            rendered.text += &line(symbol, depth(file, symbol));
            rendered.symbols += usize::from(symbol.kind.is_listed());
        }
    }
    rendered
}

/// Symbols in symbols beyond this depth are not indented further.
const MAX_DEPTH: usize = 8;

fn header(file: &FileSymbols) -> String {
    format!("{}:\n", file.path)
}

fn line(symbol: &Symbol, depth: usize) -> String {
    format!("{:indent$}{} {}\n", "", symbol.line, symbol.signature, indent = 2 * depth)
}

fn depth(file: &FileSymbols, symbol: &Symbol) -> usize {
    let parent = |symbol: &&Symbol| symbol.parent.and_then(|at| file.symbols.get(at));
    std::iter::successors(Some(symbol), parent).take(MAX_DEPTH).count()
}
