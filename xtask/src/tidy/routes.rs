//! Each file of routes has a file of tests with the same name.

use super::{Report, Repository};

const ROUTES: &str = "crates/server/src/routes/";

pub(super) fn check(repository: &Repository, report: &mut Report) {
    for path in repository.files() {
        let Some(name) = path.strip_prefix(ROUTES).filter(|name| name.ends_with(".rs")) else {
            continue;
        };
        let api = format!("crates/server/tests/api/{name}");
        let e2e = format!("crates/helmdeck/tests/e2e/{name}");
        if !repository.exists(&api) && !repository.exists(&e2e) {
            report.refuse(path, 1, "these routes have no tests", format!("write {api} or {e2e}"));
        }
    }
}
