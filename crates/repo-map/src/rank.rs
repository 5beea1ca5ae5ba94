//! Which symbols matter most: those that other files refer to.

use std::collections::{BTreeMap, HashMap};

use crate::{FileSymbols, Kind};

/// A symbol by its file and its number there.
pub type Place = (usize, usize);

/// Every listed symbol with its score, the highest first.
pub fn ranked(files: &[FileSymbols]) -> Vec<(Place, f64)> {
    let mut definitions: HashMap<&str, usize> = HashMap::new();
    for symbol in files.iter().flat_map(|file| &file.symbols) {
        *definitions.entry(&symbol.name).or_default() += 1;
    }
    // How many files use a name, and how often.
    let mut uses: HashMap<&str, (usize, usize)> = HashMap::new();
    for (name, count) in files.iter().flat_map(|file| &file.identifiers) {
        if let Some((name, _)) = definitions.get_key_value(name.as_str()) {
            let (users, total) = uses.entry(*name).or_default();
            *users += 1;
            *total += count;
        }
    }
    let mut all = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let place = place_weight(&file.path);
        for (at, symbol) in file.symbols.iter().enumerate() {
            if !symbol.kind.is_listed() {
                continue;
            }
            let defined = definitions.get(symbol.name.as_str()).copied().unwrap_or(1).max(1);
            let (users, total) = uses.get(symbol.name.as_str()).copied().unwrap_or_default();
            let score =
                score(&file.identifiers, &symbol.name, symbol.kind, (users, total, defined));
            all.push(((number, at), score * place));
        }
    }
    all.sort_by(|(a, one), (b, other)| other.total_cmp(one).then_with(|| a.cmp(b)));
    all
}

/// The score of a symbol: how many other files use its name, shared among those that define it.
fn score(
    own: &BTreeMap<String, usize>,
    name: &str,
    kind: Kind,
    (users, total, defined): (usize, usize, usize),
) -> f64 {
    let others = users.saturating_sub(usize::from(own.contains_key(name)));
    let referenced = total.saturating_sub(defined);
    let mut score = 1.0 + 2.0 * others as f64 + (1.0 + referenced as f64).ln();
    score /= defined as f64;
    score *= match kind {
        Kind::Type => 1.5,
        Kind::Constant => 0.7,
        _ => 1.0,
    };
    if name.len() <= 2 || name.starts_with('_') || name == "main" {
        score *= 0.3;
    }
    score
}

/// Tests and examples use the code, and are hardly used by it.
fn place_weight(path: &str) -> f64 {
    let is_beside = |part: &str| {
        let stem = part.split('.').next().unwrap_or(part);
        ["test", "tests", "testdata", "examples", "bench", "benches", "fixtures", "spec"]
            .contains(&stem)
            || stem.ends_with("_test")
            || stem.starts_with("test_")
            || part.contains(".test.")
            || part.contains(".spec.")
    };
    if path.split('/').any(is_beside) { 0.2 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{language, symbols};

    fn file(path: &str, source: &str) -> FileSymbols {
        let language = language::by_path(path).unwrap();
        let (symbols, identifiers) = symbols(language, path, source.as_bytes()).unwrap();
        FileSymbols { path: path.to_owned(), language, symbols, identifiers }
    }

    #[test]
    fn what_other_files_use_comes_first() {
        let files = [
            file("a.py", "def used():\n    pass\ndef alone():\n    pass\n"),
            file("b.py", "from a import used\ndef b():\n    used()\n"),
            file("c.py", "import a\nvalue = a.used()\n"),
            file("tests/test_a.py", "def test_used():\n    used()\n"),
        ];
        let ranked = ranked(&files);
        let names: Vec<_> =
            ranked.iter().map(|((file, at), _)| &*files[*file].symbols[*at].name).collect();
        assert_eq!(names.first(), Some(&"used"), "{names:?}");
        assert_eq!(names.last(), Some(&"test_used"), "{names:?}");
    }
}
