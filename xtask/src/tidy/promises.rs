//! Every test that SECURITY.md names exists.

use super::{Report, Repository};

const DOCUMENT: &str = "SECURITY.md";
const SHORT: &str = "e2e/";
const LONG: &str = "crates/helmdeck/tests/e2e/";

pub(super) fn check(repository: &Repository, report: &mut Report) {
    let text = repository.text(DOCUMENT).unwrap_or_default();
    for (index, line) in text.lines().enumerate() {
        for test in tests(line).filter(|test| !exists(repository, test)) {
            report.refuse(
                DOCUMENT,
                index + 1,
                format!("there is no test `{test}`"),
                "name the test that proves the promise as `file.rs::function`",
            );
        }
    }
}

/// Tests between backticks: `file.rs::function`.
fn tests(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|quoted| quoted.contains(".rs::"))
}

fn exists(repository: &Repository, test: &str) -> bool {
    let Some((file, function)) = test.split_once("::") else { return false };
    let file = match file.strip_prefix(SHORT) {
        Some(rest) => format!("{LONG}{rest}"),
        None => file.to_owned(),
    };
    let text = repository.text(&file).unwrap_or_default();
    text.contains(&format!("fn {function}("))
}
