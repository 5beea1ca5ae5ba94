//! Repository rules that the compiler does not know, checked in one run.
//!
//! Each rule is a file in `tidy/`, reads [`Repository`] and adds to [`Report`]. All rules run, so
//! that one run shows every violation.

use std::fmt;
use std::path::Path;

mod architecture;
mod decisions;
mod figures;
mod layers;
mod length;
mod licences;
mod names;
mod programs;
mod promises;
mod prose;
mod quoted;
mod repository;
mod routes;
mod todo;
mod words;

pub use repository::{Crate, Dependency, Package, Repository};

/// A violation of a rule, with its fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Path from the root of the repository.
    pub path: String,
    /// The line number, starting at one.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// How to fix it.
    pub fix: String,
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of checked files.
    pub files: usize,
    /// Violations that must be fixed.
    pub violations: Vec<Violation>,
    /// Violations that do not fail the run.
    pub warnings: Vec<Violation>,
}

impl Report {
    fn refuse(&mut self, path: &str, line: usize, what: impl Into<String>, fix: impl Into<String>) {
        self.violations.push(Violation {
            path: path.to_owned(),
            line,
            what: what.into(),
            fix: fix.into(),
        });
    }

    fn warn(&mut self, path: &str, line: usize, what: impl Into<String>, fix: impl Into<String>) {
        self.warnings.push(Violation {
            path: path.to_owned(),
            line,
            what: what.into(),
            fix: fix.into(),
        });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, found) in [("warning: ", &self.warnings), ("", &self.violations)] {
            for Violation { path, line, what, fix } in found {
                writeln!(f, "{path}:{line}: {kind}{what}\n    fix: {fix}")?;
            }
        }
        write!(
            f,
            "tidy: {} files, {} violations, {} warnings",
            self.files,
            self.violations.len(),
            self.warnings.len()
        )
    }
}

/// Checks the repository at `root`.
pub fn check(root: &Path) -> Report {
    let mut report = Report::default();
    match Repository::open(root) {
        Ok(repository) => check_repository(&repository, &mut report),
        Err(error) => report.refuse(
            "Cargo.toml",
            1,
            format!("the repository could not be read: {error}"),
            "make `cargo metadata` work here; `cargo fetch` downloads what is missing",
        ),
    }
    report
}

fn check_repository(repository: &Repository, report: &mut Report) {
    report.files = repository.files().len();
    layers::check(repository, report);
    length::check(repository, report);
    names::check(repository, report);
    programs::check(repository, report);
    architecture::check(repository, report);
    routes::check(repository, report);
    quoted::check(repository, report);
    promises::check(repository, report);
    decisions::check(repository, report);
    figures::check(repository, report);
    todo::check(repository, report);
    words::check(repository, report);
    prose::check(repository, report);
    licences::check(repository, report);
}

#[cfg(test)]
mod tests;
