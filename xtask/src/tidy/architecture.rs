//! ARCHITECTURE.md names every crate and stays short enough to be read.

use super::{Report, Repository};

const PATH: &str = "ARCHITECTURE.md";
const LIMIT: usize = 350;

pub(super) fn check(repository: &Repository, report: &mut Report) {
    let Some(text) = repository.text(PATH) else {
        report.refuse(PATH, 1, "missing", "write it: bird's eye, glossary, code map");
        return;
    };
    let lines = text.lines().count();
    if lines >= LIMIT {
        report.refuse(
            PATH,
            LIMIT,
            format!("{lines} lines; it must stay under {LIMIT}"),
            "move detail next to the code it describes",
        );
    }
    for member in repository.crates() {
        let folder = member.manifest.trim_end_matches("/Cargo.toml");
        let short = folder.rsplit('/').next().unwrap_or(folder);
        let named = [short, folder, &member.name];
        let is_named = text.split('`').skip(1).step_by(2).any(|quoted| {
            named.contains(&quoted.trim_end_matches('/'))
                || quoted.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        });
        if !is_named {
            report.refuse(
                PATH,
                1,
                format!("the crate {} is not named", member.name),
                format!("say what `{folder}` holds and what it must not"),
            );
        }
    }
}
