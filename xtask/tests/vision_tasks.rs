//! Runs of vision reach goals and say so truthfully: four tasks of `cargo xtask vision-tasks`, and the list.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;

use xtask::vision_tasks::{self, Kind, Options};

#[tokio::test]
async fn four_goals_are_reached_as_the_log_of_the_program_says() {
    let options = Options { kinds: vec![Kind::Precise], sample: true, ..Options::default() };
    assert_eq!(vision_tasks::select(&options).len(), 4);
    let table = vision_tasks::check(&options).await;
    assert!(table.passes(), "{table}");
}

#[test]
fn there_are_forty_tasks_half_with_small_targets_and_half_without_conditions() {
    let tasks = vision_tasks::all();
    let names: BTreeSet<_> = tasks.iter().map(|task| task.name).collect();
    assert_eq!((names.len(), tasks.len()), (40, 40));
    assert!(tasks.iter().filter(|task| task.small).count() >= 20);
    assert_eq!(tasks.iter().filter(|task| task.success().is_none()).count(), 20);
    assert_eq!(tasks.iter().filter(|task| task.easy()).count(), 3);
}
