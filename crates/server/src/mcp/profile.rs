//! Which tools a client is shown. Every tool can be called, listed or not.

use helmdeck_wire::ErrorCode;

use crate::{
    error::{ApiError, ApiResult},
    tool::Tool,
};

/// A selection of tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    /// The whole catalogue.
    #[default]
    All,
    /// The dozen that most work needs.
    Core,
    /// The structured browser.
    Browser,
    /// The visible desktop.
    Desktop,
    /// Programs and files.
    Code,
}

const NAMES: [(&str, Profile); 5] = [
    ("all", Profile::All),
    ("core", Profile::Core),
    ("browser", Profile::Browser),
    ("desktop", Profile::Desktop),
    ("code", Profile::Code),
];

/// What nearly all work begins and ends with.
const BASICS: [&str; 2] = ["session.create", "session.end"];

const CORE: [&str; 9] = [
    "browser.click",
    "browser.navigate",
    "browser.snapshot",
    "browser.type",
    "desktop.click",
    "desktop.key",
    "desktop.screenshot",
    "desktop.type",
    "session.exec",
];

const CODE: [&str; 8] = [
    "browser.console",
    "browser.navigate",
    "browser.screenshot",
    "forward.add",
    "session.exec",
    "session.kill_exec",
    "session.list_execs",
    "session.show_exec",
];
/// The nouns of tools and packs for programs and files.
const CODE_NOUNS: [&str; 7] = ["cmd", "file", "fs", "git", "node", "python", "repo"];

impl Profile {
    /// All of them.
    pub const EVERY: [Self; 5] = [Self::All, Self::Core, Self::Browser, Self::Desktop, Self::Code];

    /// Its name in addresses.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, profile)| *profile == self).map_or("all", |(name, _)| name)
    }

    /// The profile with this name.
    pub fn parse(name: &str) -> ApiResult<Self> {
        let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, profile)| *profile).ok_or_else(|| {
            let allowed: Vec<_> = NAMES.iter().map(|(name, _)| (*name).to_owned()).collect();
            let message = format!("{name:?} is not a profile: use {}", allowed.join(", "));
            ApiError::new(ErrorCode::InvalidInput, message).of_field("profile", allowed)
        })
    }

    /// Whether the profile lists a tool.
    pub fn lists(self, tool: &Tool) -> bool {
        let name = tool.name.as_str();
        let noun = name.split('.').next().unwrap_or_default();
        BASICS.contains(&name)
            || match self {
                Self::All => true,
                Self::Core => CORE.contains(&name),
                Self::Browser => ["browser", "web"].contains(&noun) || name == "file.read",
                Self::Desktop => ["desktop", "vision"].contains(&noun),
                Self::Code => CODE_NOUNS.contains(&noun) || CODE.contains(&name),
            }
    }

    /// The tools that a profile names, for the test that they exist.
    #[cfg(test)]
    fn named() -> Vec<&'static str> {
        [BASICS.as_slice(), CORE.as_slice(), CODE.as_slice()].concat()
    }

    /// Whether listed tools carry the schema of their answer, which costs as much as the rest.
    pub fn lists_output_schemas(self) -> bool {
        self == Self::All
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_a_profile_names_exists() {
        let tools = crate::table::tools();
        for name in Profile::named() {
            assert!(tools.iter().any(|tool| tool.name == name), "{name}");
        }
    }
}
