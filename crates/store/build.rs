//! Rebuilds the crate when a migration is added; the macro that embeds them cannot ask for it.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
