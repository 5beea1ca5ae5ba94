//! Command-line arguments of `cargo xtask fresh`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub const USAGE: &str = "\
Usage: cargo xtask fresh debian12|debian13 [OPTIONS]

Makes a minimal Debian system in a folder, clones this repository's last commit into it, and runs
`make up` (with one desktop session) and `make test` there. Needs root. The logs stay in the folder.
The system gets this machine's Rust toolchain, its cargo-nextest if it has one, and its access to the
registries; `rustup` and the installation of cargo-nextest are not tried.

  --user            Run as a user with sudo; without it, as root
  --only up|test    Run one of the two commands; `packages` only installs what they need
  --keep            Go on with the system of the last such run instead of a new one
  --dir DIR         The folder for systems, builds and logs (default: target/fresh)
  --mirror URL      The Debian mirror (default: the one this machine uses)";

/// One invocation.
#[derive(Debug)]
pub struct Plan {
    pub release: Release,
    pub user: bool,
    pub steps: Vec<Step>,
    pub keep: bool,
    pub dir: PathBuf,
    pub mirror: Option<String>,
}

/// A release of Debian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    Debian12,
    Debian13,
}

/// A command of the README.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Packages,
    Up,
    Test,
}

impl Release {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "debian12" => Some(Self::Debian12),
            "debian13" => Some(Self::Debian13),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Debian12 => "debian12",
            Self::Debian13 => "debian13",
        }
    }

    /// Its name on package mirrors.
    pub fn suite(self) -> &'static str {
        match self {
            Self::Debian12 => "bookworm",
            Self::Debian13 => "trixie",
        }
    }
}

impl Step {
    pub fn name(self) -> &'static str {
        match self {
            Self::Packages => "packages",
            Self::Up => "make up",
            Self::Test => "make test",
        }
    }

    /// The script to run in the clone.
    pub fn script(self) -> &'static str {
        match self {
            Self::Packages => {
                "scripts/packages.sh install runtime build test && scripts/web.sh node"
            }
            Self::Up => include_str!("up.sh"),
            Self::Test => "make test",
        }
    }
}

impl Plan {
    /// Parses the arguments; `None` if they ask for help.
    pub fn parse(root: &Path, args: Vec<OsString>) -> Result<Option<Self>, String> {
        let (mut release, mut user, mut keep) = (None, false, false);
        let (mut steps, mut dir, mut mirror) = (vec![Step::Up, Step::Test], None, None);
        let mut words = args.into_iter().map(|word| word.to_string_lossy().into_owned());
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--help" | "-h" => return Ok(None),
                "--user" => user = true,
                "--keep" => keep = true,
                "--dir" => dir = Some(PathBuf::from(value()?)),
                "--mirror" => mirror = Some(value()?),
                "--only" => {
                    steps = match value()?.as_str() {
                        "packages" => vec![Step::Packages],
                        "up" => vec![Step::Up],
                        "test" => vec![Step::Test],
                        other => {
                            return Err(format!("--only {other}: expected packages, up or test"));
                        }
                    };
                }
                other => {
                    let known = Release::parse(other).filter(|_| release.is_none());
                    release = Some(known.ok_or(format!("{other}: expected debian12 or debian13"))?);
                }
            }
        }
        let release = release.ok_or("which system: debian12 or debian13?")?;
        let dir = dir.unwrap_or_else(|| root.join("target/fresh"));
        std::fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        let dir = dir.canonicalize().map_err(|error| format!("{}: {error}", dir.display()))?;
        Ok(Some(Self { release, user, steps, keep, dir, mirror }))
    }

    /// The account that runs the commands inside.
    pub fn account(&self) -> &'static str {
        if self.user { "dev" } else { "root" }
    }

    /// The minimal system that each run starts from.
    pub fn base(&self) -> PathBuf {
        self.dir.join(self.release.name()).join("base")
    }

    /// The system of this run.
    pub fn system(&self) -> PathBuf {
        self.dir.join(self.release.name()).join(self.account())
    }

    /// Cargo's build directory, shared by all runs on a release.
    pub fn build(&self) -> PathBuf {
        self.dir.join(self.release.name()).join("build")
    }

    /// The log of a step.
    pub fn log(&self, step: Step) -> PathBuf {
        let name = format!("{}-{}.log", self.account(), step.name().replace(' ', "-"));
        self.dir.join(self.release.name()).join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Plan>, String> {
        let dir = tempfile::tempdir().unwrap();
        Plan::parse(dir.path(), line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn both_commands_run_as_root_by_default() {
        let plan = parse("debian13").unwrap().unwrap();
        assert_eq!((plan.release, plan.account()), (Release::Debian13, "root"));
        assert_eq!(plan.steps, [Step::Up, Step::Test]);
        let plan = parse("--only up --user debian12 --keep").unwrap().unwrap();
        assert_eq!((plan.release, plan.account(), plan.keep), (Release::Debian12, "dev", true));
        assert_eq!(plan.steps, [Step::Up]);
    }

    #[test]
    fn unknown_words_are_refused() {
        for line in ["", "debian11", "debian12 debian13", "debian12 --only all", "debian12 --dir"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
