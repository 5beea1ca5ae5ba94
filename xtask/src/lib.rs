//! Checks of the repository. The commands are in `main.rs`.

pub mod tidy;
