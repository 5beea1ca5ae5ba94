//! The repository for the rules: its files and its crates.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Directories with generated content, which are skipped.
const NOT_OURS: [&str; 3] = [".git", "target", "node_modules"];

/// The files of a repository and the crates of its workspace.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    files: Vec<String>,
    crates: Vec<Crate>,
    packages: Vec<Package>,
}

/// A member of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crate {
    /// Package name.
    pub name: String,
    /// Path of its `Cargo.toml` from the root.
    pub manifest: String,
    /// Its dependencies.
    pub dependencies: Vec<Dependency>,
}

/// One line of a crate's dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// Package name.
    pub name: String,
    /// Used by tests only.
    pub dev: bool,
    /// Whether any version of a registry will do: `*`.
    pub any_version: bool,
}

/// A crate of others that this one is built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Package name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Licence expression; `None` if the package names a file.
    pub licence: Option<String>,
    /// Where cargo found it.
    pub source: String,
}

impl Repository {
    /// Lists the files and asks cargo for the crates.
    pub fn open(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let metadata = metadata(&root, &["--no-deps"])?;
        let packages = list(&metadata, "packages");
        let crates = packages.iter().map(|package| read_crate(&root, package)).collect();
        // For one system, so that no packages of others have to be downloaded.
        let metadata = metadata_of_linux(&root)?;
        let packages = list(&metadata, "packages").iter().filter_map(read_package).collect();
        Ok(Self::with_crates(&root, crates)?.with_packages(packages))
    }

    /// A repository whose crates are already known.
    pub fn with_crates(root: &Path, crates: Vec<Crate>) -> io::Result<Self> {
        let mut files = match files_known_to_git(root) {
            Some(files) => files,
            None => {
                let mut files = Vec::new();
                walk(root, Path::new(""), &mut files)?;
                files
            }
        };
        files.sort_unstable();
        Ok(Self { root: root.to_owned(), files, crates, packages: Vec::new() })
    }

    /// The same, built from these packages of others.
    pub fn with_packages(self, packages: Vec<Package>) -> Self {
        Self { packages, ..self }
    }

    /// Paths of all files from the root, sorted.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Members of the workspace.
    pub fn crates(&self) -> &[Crate] {
        &self.crates
    }

    /// Crates of others that this one is built from.
    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// Whether a file or directory exists.
    pub fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The text of a file; `None` for pictures and other files that are not text.
    pub fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    /// Paths and texts of the files whose name ends in one of `endings`.
    pub fn texts<'a>(
        &'a self,
        endings: &'a [&str],
    ) -> impl Iterator<Item = (&'a str, String)> + 'a {
        self.files
            .iter()
            .filter(move |path| endings.iter().any(|ending| path.ends_with(ending)))
            .filter_map(|path| Some((path.as_str(), self.text(path)?)))
    }
}

/// Tracked and new files, without ignored ones; `None` outside a git checkout.
fn files_known_to_git(root: &Path) -> Option<Vec<String>> {
    // A repository further up does not count: its list would be empty for an ignored folder.
    if !root.join(".git").exists() {
        return None;
    }
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let listed = String::from_utf8_lossy(&output.stdout);
    Some(
        listed
            .split('\0')
            .filter(|path| !path.is_empty() && root.join(path).is_file())
            .map(str::to_owned)
            .collect(),
    )
}

fn walk(root: &Path, below: &Path, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() && !NOT_OURS.iter().any(|name| entry.file_name() == *name) {
            walk(root, &path, files)?;
        } else if kind.is_file() {
            files.push(path.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

fn metadata_of_linux(root: &Path) -> io::Result<Value> {
    let system = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    metadata(root, &["--offline", "--filter-platform", &system])
}

fn metadata(root: &Path, args: &[&str]) -> io::Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1"])
        .args(args)
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// `None` for a member of the workspace.
fn read_package(package: &Value) -> Option<Package> {
    Some(Package {
        name: text(package, "name"),
        version: text(package, "version"),
        licence: package.get("license").and_then(Value::as_str).map(str::to_owned),
        source: package.get("source")?.as_str()?.to_owned(),
    })
}

fn read_crate(root: &Path, package: &Value) -> Crate {
    let manifest = PathBuf::from(text(package, "manifest_path"));
    Crate {
        name: text(package, "name"),
        manifest: manifest.strip_prefix(root).unwrap_or(&manifest).to_string_lossy().into_owned(),
        dependencies: list(package, "dependencies")
            .iter()
            .map(|dependency| Dependency {
                name: text(dependency, "name"),
                dev: text(dependency, "kind") == "dev",
                // Crates of the workspace have no source.
                any_version: text(dependency, "req") == "*"
                    && !text(dependency, "source").is_empty(),
            })
            .collect(),
    }
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text(object: &Value, key: &str) -> String {
    object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
