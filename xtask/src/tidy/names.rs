//! Refuses meaningless names of files, folders and modules.

use super::{Report, Repository};

/// Refused as a whole name and as a part of one (`session_manager`).
const ANYWHERE: [&str; 9] =
    ["manager", "helper", "helpers", "util", "utils", "common", "misc", "service", "services"];
/// Refused only as a whole name (`data_dir` is allowed).
const ALONE: [&str; 5] = ["base", "type", "types", "data", "info"];
const CODE: [&str; 5] = [".rs", ".ts", ".tsx", ".sh", ".sql"];
const FIX: &str = "name it after the noun of the domain it holds, or the verb it does";

pub(super) fn check(repository: &Repository, report: &mut Report) {
    for path in repository.files() {
        if !CODE.iter().any(|ending| path.ends_with(ending)) {
            continue;
        }
        for part in path.split('/') {
            let stem = part.split('.').next().unwrap_or(part);
            if let Some(word) = banned(stem) {
                report.refuse(path, 1, format!("`{word}` in the path says nothing"), FIX);
            }
        }
    }
    for (path, text) in repository.texts(&[".rs"]) {
        for (index, line) in text.lines().enumerate() {
            // `mod x;` is reported by the path of x; only inline modules are left.
            let Some(name) = inline_module(line) else { continue };
            if let Some(word) = banned(name) {
                report.refuse(path, index + 1, format!("`{word}` in `mod {name}`"), FIX);
            }
        }
    }
}

fn banned(stem: &str) -> Option<&'static str> {
    let whole = ALONE.iter().find(|word| stem == **word);
    let part = ANYWHERE.iter().find(|word| stem.split(['_', '-']).any(|part| part == **word));
    whole.or(part).copied()
}

fn inline_module(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [.., "mod", name, "{"] => Some(name),
        _ => None,
    }
}
