//! The toolsets of packs, which are optional.

use helmdeck_packs::{TOOLSETS, Toolset};

use super::Finding;

pub(super) fn check() -> Vec<Finding> {
    TOOLSETS.iter().map(toolset).collect()
}

fn toolset(toolset: &Toolset) -> Finding {
    let what = format!("toolset {}", toolset.name);
    let missing = toolset.missing();
    if missing.is_empty() {
        return Finding::ok(what, toolset.programs.join(", "));
    }
    let used_for = toolset.used_for;
    let detail = format!("optional, for {used_for}: {} not installed", missing.join(", "));
    Finding::absent(what, detail, toolset.install())
}
