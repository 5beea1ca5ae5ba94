//! Dependencies between crates: only on crates in lower rows.

use super::{Crate, Report, Repository};

/// Rows from the bottom up. A crate may use the rows below its own, never its own row.
const ROWS: [&[&str]; 7] = [
    &[
        "helmdeck-wire",
        "helmdeck-spawn",
        "helmdeck-task",
        "helmdeck-telemetry",
        "helmdeck-schema",
        "helmdeck-tls",
        "helmdeck-s3",
        "helmdeck-atspi",
        "helmdeck-repo-map",
        "helmdeck-documents",
    ],
    &[
        "helmdeck-runtime",
        "helmdeck-store",
        "helmdeck-link",
        "helmdeck-display",
        "helmdeck-egress",
        "helmdeck-rfb",
        "helmdeck-cdp",
        "helmdeck-a11y",
    ],
    &["helmdeck-sessions", "helmdeck-browser", "helmdeck-gateway"],
    &["helmdeck-vision"],
    &["helmdeck-packs"],
    &["helmdeck-server", "helmdeck-guest"],
    &["helmdeck"],
];

/// Crates that may use everything, and that only tests may use.
const BESIDE: [&str; 2] = ["helmdeck-testkit", "xtask"];

pub(super) fn check(repository: &Repository, report: &mut Report) {
    for member in repository.crates() {
        if BESIDE.contains(&member.name.as_str()) {
            continue;
        }
        match row(&member.name) {
            Some(own) => check_crate(repository, member, own, report),
            None => report.refuse(
                &member.manifest,
                1,
                format!("the crate {} has no row", member.name),
                "add it to ROWS in xtask/src/tidy/layers.rs and to ARCHITECTURE.md",
            ),
        }
    }
}

fn check_crate(repository: &Repository, member: &Crate, own: usize, report: &mut Report) {
    for dependency in member.dependencies.iter().filter(|dependency| !dependency.dev) {
        let line = line_of(repository, &member.manifest, &dependency.name);
        if BESIDE.contains(&dependency.name.as_str()) {
            report.refuse(
                &member.manifest,
                line,
                format!("{} depends on {} outside its tests", member.name, dependency.name),
                "move the line to [dev-dependencies]",
            );
        } else if let Some(other) = row(&dependency.name).filter(|other| *other >= own) {
            report.refuse(
                &member.manifest,
                line,
                format!(
                    "{} (row {own}) depends on {} (row {other}); only lower rows are allowed",
                    member.name, dependency.name
                ),
                "move what is shared to a lower crate, or let a higher one join the two",
            );
        }
    }
}

fn row(name: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&name))
}

/// The first line of a manifest that begins with a dependency's name.
fn line_of(repository: &Repository, manifest: &str, dependency: &str) -> usize {
    let text = repository.text(manifest).unwrap_or_default();
    let found = text.lines().position(|line| {
        line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with([' ', '.', '=']))
    });
    found.map_or(1, |index| index + 1)
}
