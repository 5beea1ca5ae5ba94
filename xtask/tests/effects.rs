//! Actions report what happened: ten cases of `cargo xtask effects`, and the list of all.
//!
//! Chromium, GTK and xterm are among them. LibreOffice is not: it is several hundred megabytes to
//! install, so `cargo xtask effects` runs its cases by hand.

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
        "web/canvas-paints/pixel",
        "web/frame-input/type",
        "web/long/wheel-down/spinner",
        "web/hover-menu/move/glow",
        "gtk/toggle/pixel",
        "xterm/tells/key",
        "xterm/silent/key",
    ];
    let named = only.iter().map(|name| (*name).to_owned()).collect();
    let options = Options { exactly: named, ..Options::default() };
    assert_eq!(effects::select(&options).len(), only.len());
    let table = effects::check(&options).await;
    assert!(table.passes(), "{table}");
}

/// What the frozen cases do and expect, as a number.
const FROZEN_DEFINITIONS: u64 = 0x6fd7_1955_9cba_614c;

/// The pages and programs that they use, as a number.
const FROZEN_SOURCES: u64 = 0xb839_0cc6_bde9_094b;

/// The FNV-1a hash, which is the same with every compiler.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn frozen_cases_do_not_change() {
    let options = Options { frozen: true, ..Options::default() };
    let mut cases: Vec<_> =
        effects::select(&options).iter().map(|case| format!("{case:?}")).collect();
    cases.sort();
    assert_eq!(hash(&cases.join("\n")), FROZEN_DEFINITIONS, "add new cases; keep these");
}

#[test]
fn pages_and_programs_of_frozen_cases_do_not_change() {
    let sources = effects::sources().join("\n");
    assert_eq!(hash(&sources), FROZEN_SOURCES, "add new pages; compare runs before this number");
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
