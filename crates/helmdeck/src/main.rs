//! The helmdeck program.
fn main() {}
