//! Actions report what happened: ten cases of `cargo xtask effects`, and the list of all.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;

use xtask::effects::{self, Options};

const FROZEN: &str = include_str!("../effects/frozen.txt");

#[tokio::test]
async fn ten_actions_report_what_the_log_of_the_program_says() {
    let only = [
        "web/button-tells/pixel",
        "web/button-disabled/target",
        "web/checkbox/browser",
        "web/link/key",
        "web/canvas-paints/pixel",
        "web/frame-input/type",
        "web/long/wheel-down/spinner",
        "web/hover-menu/move/glow",
        "xterm/tells/key",
        "xterm/silent/key",
    ];
    let named = only.iter().map(|name| (*name).to_owned()).collect();
    let options = Options { exactly: named, ..Options::default() };
    assert_eq!(effects::select(&options).len(), only.len());
    let table = effects::check(&options).await;
    assert!(table.passes(), "{table}");
}

#[test]
fn names_are_unique_and_frozen_cases_exist() {
    let cases = effects::all();
    let names: BTreeSet<_> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
    let lost: Vec<_> = FROZEN.lines().filter(|name| !names.contains(name)).collect();
    assert_eq!(lost, Vec::<&str>::new());
    assert!(cases.len() >= 300 && FROZEN.lines().count() >= 100);
}
