//! Command-line arguments of `cargo xtask fresh`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::readme;

pub const USAGE: &str = "\
Usage: cargo xtask fresh debian12|debian13 [OPTIONS]

Makes a minimal Debian system in a folder, clones this repository's last commit into it, and runs there
README's first block, then `make up` with the other shell blocks of README and docs/, then `make test`.
Needs root. The logs stay in the folder.

Of this machine, the system gets the Rust toolchain and cargo-nextest if it is installed (both read-only),
and the access to registries: DNS, certificates, proxies, and the configuration of cargo, npm and pip.
So README's rustup and the installation of cargo-nextest are not tried.

  --user            Run as a user with sudo; without it, as root in a system without sudo
  --only up|test    Run one of the two commands; `packages` only installs what they need
  --keep            Go on with the system and the build of the last such run instead of new ones
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

/// What is run in the clone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Prerequisites,
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
            Self::Prerequisites => "prerequisites",
            Self::Packages => "packages",
            Self::Up => "make up",
            Self::Test => "make test",
        }
    }

    /// The script to run in the clone.
    pub fn script(self, plan: &Plan) -> Result<String, String> {
        let clone = plan.clone_dir();
        let script = match self {
            Self::Prerequisites => readme::prerequisites(&clone, !plan.user),
            Self::Packages => {
                Ok("scripts/packages.sh install runtime build test && scripts/web.sh node"
                    .to_owned())
            }
            Self::Up => readme::commands(&clone),
            Self::Test => Ok("make test".to_owned()),
        };
        script.map_err(|error| format!("README.md in {}: {error}", clone.display()))
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
        steps.insert(0, Step::Prerequisites);
        Ok(Some(Self { release, user, steps, keep, dir, mirror }))
    }

    /// The account that runs the commands inside.
    pub fn account(&self) -> &'static str {
        if self.user { "dev" } else { "root" }
    }

    /// The minimal system that each run starts from.
    pub fn base(&self) -> PathBuf {
        self.dir.join(self.release.name()).join("minimal")
    }

    /// The system of this run.
    pub fn system(&self) -> PathBuf {
        self.dir.join(self.release.name()).join(self.account())
    }

    /// The clone of the repository in the system.
    pub fn clone_dir(&self) -> PathBuf {
        self.system().join("srv/helmdeck")
    }

    /// Cargo's build directory of this run.
    pub fn build(&self) -> PathBuf {
        self.dir.join(self.release.name()).join(format!("{}-build", self.account()))
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
        assert_eq!(plan.steps, [Step::Prerequisites, Step::Up, Step::Test]);
        let plan = parse("--only up --user debian12 --keep").unwrap().unwrap();
        assert_eq!((plan.release, plan.account(), plan.keep), (Release::Debian12, "dev", true));
        assert_eq!(plan.steps, [Step::Prerequisites, Step::Up]);
    }

    #[test]
    fn no_run_uses_the_build_of_another_release_or_account() {
        let dir = tempfile::tempdir().unwrap();
        let builds = ["debian12", "debian12 --user", "debian13", "debian13 --user"].map(|line| {
            let args = line.split_whitespace().map(OsString::from).collect();
            Plan::parse(dir.path(), args).unwrap().unwrap().build()
        });
        assert_eq!(builds.iter().collect::<std::collections::BTreeSet<_>>().len(), builds.len());
    }

    #[test]
    fn unknown_words_are_refused() {
        for line in ["", "debian11", "debian12 debian13", "debian12 --only all", "debian12 --dir"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
