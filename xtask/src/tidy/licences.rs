//! Licences, sources and banned names of dependencies, by the rules of `deny.toml`.
//!
//! It knows the crates that default features build on this machine. cargo-deny also knows optional
//! features and reads licence texts, but building it takes minutes. This needs no network.

use super::{
    Report, Repository,
    repository::{Crate, Dependency, Package},
};

const RULES: &str = "deny.toml";
/// The default registry begins with this.
const REGISTRY: &str = "registry+https://github.com/rust-lang/";

pub(super) fn check(repository: &Repository, report: &mut Report) {
    let Some(rules) = repository.text(RULES) else { return };
    let (allowed, banned) = (list(&rules, "allow"), list(&rules, "deny"));
    for Package { name, version, licence, source } in repository.packages() {
        let mut refuse = |what: String, fix: &str| report.refuse(RULES, 1, what, fix);
        if !licence.as_deref().is_some_and(|licence| Expression::read(licence).holds(&allowed)) {
            let licence = licence.as_deref().unwrap_or("no licence");
            let fix = "replace the dependency, or allow its licence after reading it";
            refuse(format!("{name} {version} has the licence {licence:?}"), fix);
        }
        if banned.contains(&name.as_str()) {
            refuse(format!("{name} {version} is banned"), "find what depends on it: cargo tree -i");
        }
        if !source.starts_with(REGISTRY) {
            let fix = "depend on a released version";
            refuse(format!("{name} {version} comes from {source}"), fix);
        }
    }
    for Crate { manifest, dependencies, .. } in repository.crates() {
        for Dependency { name, .. } in dependencies.iter().filter(|it| it.any_version) {
            let fix = "name the version that it is tested with";
            report.refuse(manifest, 1, format!("{name} may have any version"), fix);
        }
    }
}

/// The strings of a list in TOML.
fn list<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != format!("{name} = ["));
    lines.next();
    let entries = lines.take_while(|line| *line != "]").filter(|line| !line.starts_with('#'));
    entries.filter_map(|line| line.strip_prefix('"')?.split('"').next()).collect()
}

/// A licence expression of SPDX, such as `(MIT OR Apache-2.0) AND Unicode-3.0`.
struct Expression<'a> {
    words: Vec<&'a str>,
}

impl<'a> Expression<'a> {
    fn read(text: &'a str) -> Self {
        let mut words = Vec::new();
        for word in text.split(|c: char| c.is_whitespace()) {
            let mut rest = word;
            while let Some(at) = rest.find(['(', ')', '/']) {
                let (before, mark) = rest.split_at(at);
                words.extend(Some(before).filter(|it| !it.is_empty()));
                let (mark, after) = mark.split_at(1);
                // Older manifests write `MIT/Apache-2.0`.
                words.push(if mark == "/" { "OR" } else { mark });
                rest = after;
            }
            words.extend(Some(rest).filter(|it| !it.is_empty()));
        }
        words.reverse();
        Self { words }
    }

    /// Whether the allowed licences are enough.
    fn holds(mut self, allowed: &[&str]) -> bool {
        let holds = self.any(allowed);
        holds && self.words.is_empty()
    }

    fn any(&mut self, allowed: &[&str]) -> bool {
        let mut holds = self.all(allowed);
        while self.next_is("OR") {
            holds |= self.all(allowed);
        }
        holds
    }

    fn all(&mut self, allowed: &[&str]) -> bool {
        let mut holds = self.one(allowed);
        while self.next_is("AND") {
            holds &= self.one(allowed);
        }
        holds
    }

    fn one(&mut self, allowed: &[&str]) -> bool {
        match self.words.pop() {
            Some("(") => {
                let holds = self.any(allowed);
                self.next_is(")") && holds
            }
            Some(licence) => {
                if self.next_is("WITH") {
                    let exception = self.words.pop().unwrap_or_default();
                    return allowed.contains(&format!("{licence} WITH {exception}").as_str());
                }
                allowed.contains(&licence)
            }
            None => false,
        }
    }

    /// Takes the next word if it is this one.
    fn next_is(&mut self, word: &str) -> bool {
        self.words.pop_if(|next| *next == word).is_some()
    }
}
