//! Decision records are numbered once each and named `NNNN-title.md`.

use std::collections::BTreeMap;

use super::{Report, Repository};

const FOLDER: &str = "docs/adr/";

pub(super) fn check(repository: &Repository, report: &mut Report) {
    let mut by_number: BTreeMap<&str, &str> = BTreeMap::new();
    for path in repository.files() {
        let Some(name) = path.strip_prefix(FOLDER).filter(|name| *name != "README.md") else {
            continue;
        };
        let Some(number) = number(name) else {
            report.refuse(
                path,
                1,
                "not named like a decision record",
                "name it NNNN-title.md: four digits, then small letters and dashes",
            );
            continue;
        };
        if let Some(first) = by_number.insert(number, path) {
            report.refuse(path, 1, format!("{first} has the same number"), "take the next number");
        }
    }
}

/// The four digits of a well-formed name.
fn number(name: &str) -> Option<&str> {
    let (number, title) = name.strip_suffix(".md")?.split_once('-')?;
    let digits = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (digits && !title.is_empty() && title.bytes().all(letters)).then_some(number)
}
