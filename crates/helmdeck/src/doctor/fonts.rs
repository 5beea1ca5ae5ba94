//! Whether fonts for common scripts are installed.

use std::collections::BTreeSet;
use std::process::Command;

use super::attempt::attempt;
use super::{Finding, install, programs};

/// Kind of text, its fontconfig query, and the package.
const FONTS: [(&str, &str, &str); 3] = [
    ("fonts", ":lang=en", "fonts-dejavu-core"),
    ("CJK fonts", ":lang=zh:lang=ja:lang=ko", "fonts-noto-cjk"),
    ("emoji font", ":lang=und-zsye", "fonts-noto-color-emoji"),
];

/// Number of names in a line. The rest is counted.
const SHOWN: usize = 3;

pub(super) fn check() -> Vec<Finding> {
    if programs::find("fc-list").is_none() {
        return vec![Finding::warn("fonts", "fc-list is not installed", install("fontconfig"))];
    }
    FONTS.iter().map(|(what, pattern, package)| font(what, pattern, package)).collect()
}

fn font(what: &str, pattern: &str, package: &str) -> Finding {
    let said = attempt(Command::new("fc-list").args([pattern, "family"]));
    let families = said.map(|said| said.stdout).unwrap_or_default();
    // A family can have names in several languages.
    let names = families.lines().filter_map(|line| line.split(',').next().map(str::trim));
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    match names.len() {
        0 => Finding::missing(what, "none installed: such text shows as boxes", install(package)),
        count => {
            let first: Vec<&str> = names.into_iter().take(SHOWN).collect();
            let more = if count > SHOWN { ", …" } else { "" };
            Finding::ok(what, format!("{count} installed: {}{more}", first.join(", ")))
        }
    }
}
