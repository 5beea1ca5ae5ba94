//! Notes about open work must state what and why.

use super::{Report, Repository};

const CODE: [&str; 8] = [".rs", ".ts", ".tsx", ".sh", ".sql", ".toml", ".yml", "Makefile"];
// Split here so that this file does not report itself.
const MARKS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
const FEWEST_WORDS: usize = 3;

pub(super) fn check(repository: &Repository, report: &mut Report) {
    for (path, text) in repository.texts(&CODE) {
        for (index, line) in text.lines().enumerate() {
            for mark in MARKS.iter().filter(|mark| lacks_reason(line, mark)) {
                report.refuse(
                    path,
                    index + 1,
                    format!("`{mark}` without a reason"),
                    "say what is missing and why it can wait, or do it now",
                );
            }
        }
    }
}

fn lacks_reason(line: &str, mark: &str) -> bool {
    let Some((before, after)) = line.split_once(mark) else { return false };
    let part_of_a_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        || after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let words = after.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    !part_of_a_word && words.count() < FEWEST_WORDS
}
