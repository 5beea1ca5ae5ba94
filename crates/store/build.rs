//! Rebuilds the crate when a migration is added. The macro that embeds migrations cannot do this.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
