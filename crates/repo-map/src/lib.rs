//! Maps a repository: its functions, methods and types, the most referenced first, within a budget
//! of tokens.
//!
//! It runs inside the session that has the repository (ADR 55): sources are untrusted, and grammars
//! are C code. Files, sizes and times are limited.

mod files;
mod language;
mod rank;
mod render;
mod symbol;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

pub use language::{Language, languages};
pub use symbol::{Kind, Symbol, symbols};

/// How long the whole repository may take.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// What to map.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Most tokens of the map; no limit if 0. A token is counted as four bytes.
    pub token_budget: usize,
    /// Only files that match one of these patterns; all if empty.
    pub include_globs: Vec<String>,
    /// Only these languages; all if empty.
    pub languages: Vec<String>,
}

/// A map.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RepoMap {
    /// Files, and below each one its symbols with line numbers.
    pub map: String,
    /// Size of the map in tokens, four bytes each.
    pub tokens_estimated: usize,
    /// Number of files in the map.
    pub files_covered: usize,
    /// Number of source files in a known language.
    pub files_total: usize,
    /// Number of symbols in the map.
    pub symbols_covered: usize,
    /// Number of symbols found.
    pub symbols_total: usize,
    /// Number of files in each language.
    pub languages: BTreeMap<String, usize>,
    /// Files that were left out because of their size or the time they took.
    pub files_skipped: usize,
}

/// Why there is no map.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// Git does not list its files.
    #[error("git cannot list the files: {0}")]
    Git(String),
    /// A pattern is invalid.
    #[error("include_globs: {0}")]
    Pattern(#[from] glob::PatternError),
    /// A language is unknown.
    #[error("languages: {0:?} is not known; the languages are {1}")]
    Language(String, String),
}

/// The symbols of a file.
#[derive(Debug)]
pub struct FileSymbols {
    /// Path in the repository.
    pub path: String,
    /// Language.
    pub language: &'static Language,
    /// In the order of the source.
    pub symbols: Vec<Symbol>,
    /// How often each identifier occurs.
    pub identifiers: BTreeMap<String, usize>,
}

/// Maps the repository in a folder.
pub fn map(root: &Path, options: &Options) -> Result<RepoMap, MapError> {
    let (files, skipped) = read(root, options)?;
    let ranked = rank::ranked(&files);
    let rendered = render::render(&files, &ranked, options.token_budget);
    let mut languages = BTreeMap::new();
    for file in &files {
        *languages.entry(file.language.name.to_owned()).or_default() += 1;
    }
    let counted = |file: &FileSymbols| file.symbols.iter().filter(|it| it.kind.is_listed()).count();
    Ok(RepoMap {
        tokens_estimated: render::tokens(rendered.text.len()),
        map: rendered.text,
        files_covered: rendered.files,
        files_total: files.len() + skipped,
        symbols_covered: rendered.symbols,
        symbols_total: files.iter().map(counted).sum(),
        languages,
        files_skipped: skipped,
    })
}

/// The symbols of every wanted file, and how many files were skipped.
pub fn read(root: &Path, options: &Options) -> Result<(Vec<FileSymbols>, usize), MapError> {
    let wanted = files::wanted(root, options)?;
    let end = Instant::now() + TIME_LIMIT;
    let (mut read, mut skipped) = (Vec::new(), 0);
    let mut room = files::MAX_TOTAL;
    for (path, language) in wanted {
        let source = files::source(root, &path, room).filter(|_| Instant::now() < end);
        let Some(source) = source else {
            skipped += 1;
            continue;
        };
        room = room.saturating_sub(source.len());
        match symbols(language, &path, &source) {
            Some((symbols, identifiers)) => {
                read.push(FileSymbols { path, language, symbols, identifiers });
            }
            None => skipped += 1,
        }
    }
    Ok((read, skipped))
}
