//! Paths quoted in documents exist.

use super::{Report, Repository};

const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];
const ROOTS: [&str; 6] = ["crates/", "docs/", "scripts/", "xtask/", "web/", ".ci/"];
/// Characters of a pattern or placeholder, as in `crates/<name>/src`.
const PATTERN: [char; 7] = ['*', '<', '{', '[', '$', '…', '?'];

pub(super) fn check(repository: &Repository, report: &mut Report) {
    for (path, text) in repository.texts(&[".md"]) {
        if !DOCUMENTS.contains(&path) && !path.starts_with("docs/") {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            for quoted in paths(line).filter(|quoted| !repository.exists(quoted)) {
                report.refuse(
                    path,
                    index + 1,
                    format!("`{quoted}` does not exist"),
                    "correct the path, or leave it out if the file is gone for good",
                );
            }
        }
    }
}

/// Repository paths between backticks, without a trailing line number or anchor.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    line.split('`')
        .skip(1)
        .step_by(2)
        .flat_map(str::split_whitespace)
        .filter(|word| ROOTS.iter().any(|root| word.starts_with(root)))
        .filter(|word| !word.contains(PATTERN) && !word.contains("NNNN"))
        .map(|word| word.split([':', '#']).next().unwrap_or(word).trim_end_matches([',', '.', ';']))
}
