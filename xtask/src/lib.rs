//! Checks that tests use as well. The commands are in `main.rs`.

pub mod effects;
pub mod tidy;
pub mod vision_tasks;
