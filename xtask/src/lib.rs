//! What the project checks about itself. The commands are in `main.rs`.

pub mod tidy;
