//! The system: created with debootstrap once per release, copied for each run, entered with
//! `pivot_root`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::access;
use super::plan::Plan;

/// A system that is ready for commands.
pub struct System<'a> {
    plan: &'a Plan,
    toolchain: PathBuf,
    nextest: PathBuf,
}

impl<'a> System<'a> {
    /// Creates it, or reuses the last one, and clones the last commit of `root` into it.
    pub fn prepare(root: &Path, plan: &'a Plan) -> Result<Self, String> {
        if output("id", ["-u"])? != "0" {
            return Err("only root can create a system; run this with sudo".to_owned());
        }
        // debootstrap may be missing on this machine.
        check(Command::new(root.join("scripts/packages.sh")).args(["install", "fresh"]))?;
        make_base(plan)?;
        let system = plan.system();
        if !(plan.keep && system.exists()) {
            remove(&system)?;
            remove(&plan.build())?;
            println!("fresh: a copy of {} for {}", plan.base().display(), plan.account());
            let copy = ["-a", "--reflink=auto"].map(OsStr::new);
            check(Command::new("cp").args(copy).arg(plan.base()).arg(&system))?;
            set_up(plan, &system)?;
        }
        clone(root, plan, &system)?;
        fs::create_dir_all(plan.build()).map_err(|error| error.to_string())?;
        let toolchain = PathBuf::from(output("rustc", ["--print", "sysroot"])?);
        // Building it from source would take ten minutes in each run.
        let nextest = output("bash", ["-c", "command -v cargo-nextest || true"])?;
        Ok(Self { plan, toolchain, nextest: nextest.into() })
    }

    /// Runs a script as the plan's account, shows its output and keeps it in `log`. Returns its
    /// exit code;
    /// `None` if a signal ended it.
    pub fn run(&self, script: &str, log: &Path) -> Result<Option<i32>, String> {
        println!("\nfresh: log in {}", log.display());
        // The system ends with this program, also if a signal ends it.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "unshare"]);
        command.args(["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--"]);
        command.args(["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]);
        command
            .args(access::variables().into_iter().map(|(name, value)| format!("{name}={value}")));
        command.args(["bash", "-c", include_str!("enter.sh"), "enter.sh"]);
        command.args([&self.plan.system(), &self.toolchain, &self.nextest, &self.plan.build()]);
        command.args([self.plan.account(), &format!("exec 2>&1\n{script}")]);
        let failed = |error: std::io::Error| format!("the system could not be entered: {error}");
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let mut file = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
        if let Some(written) = child.stdout.take() {
            for line in BufReader::new(written).split(b'\n').map_while(Result::ok) {
                let line = [line, b"\n".to_vec()].concat();
                // Continue if the terminal is gone.
                let _ = std::io::stdout().write_all(&line);
                file.write_all(&line).map_err(failed)?;
            }
        }
        Ok(child.wait().map_err(failed)?.code())
    }
}

/// Creates a minimal Debian, once. Nothing is added to it, so that README has to name it.
fn make_base(plan: &Plan) -> Result<(), String> {
    let base = plan.base();
    if base.exists() {
        return Ok(());
    }
    let mirror = plan.mirror.clone().or(access::mirrors().main);
    let unfinished = base.with_extension("unfinished");
    remove(&unfinished)?;
    fs::create_dir_all(&unfinished).map_err(|error| error.to_string())?;
    println!("fresh: debootstrap {} into {}", plan.release.suite(), base.display());
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.arg("--variant=minbase");
    if mirror.as_ref().is_some_and(|mirror| mirror.starts_with("https:")) {
        // Only then apt needs certificates.
        debootstrap.arg("--include=ca-certificates");
    }
    debootstrap.arg(plan.release.suite()).arg(&unfinished).args(mirror);
    check(&mut debootstrap)?;
    fs::rename(&unfinished, &base).map_err(|error| error.to_string())
}

/// Sets up the account and access to the registries.
fn set_up(plan: &Plan, system: &Path) -> Result<(), String> {
    let home = if plan.user { "home/dev" } else { "root" };
    let mirrors = access::mirrors();
    if let Some(main) = plan.mirror.clone().or(mirrors.main) {
        let sources = access::sources(plan.release, &main, mirrors.security.as_deref());
        let list = system.join("etc/apt/sources.list");
        fs::write(&list, sources).map_err(|error| format!("{}: {error}", list.display()))?;
    }
    let files = access::files(home);
    for (file, to) in &files {
        let to = system.join(to);
        let failed = |error: std::io::Error| format!("{}: {error}", to.display());
        fs::create_dir_all(to.parent().unwrap_or(system)).map_err(failed)?;
        fs::copy(file, &to).map_err(failed)?;
        if to.starts_with(system.join(home)) {
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        }
    }
    let mut inside = Command::new("chroot");
    inside.arg(system).args(["bash", "-ec", include_str!("account.sh"), "account.sh"]);
    check(inside.args([plan.account(), home]))
}

/// Clones the last commit, as a newcomer would.
fn clone(root: &Path, plan: &Plan, system: &Path) -> Result<(), String> {
    let dirty = output(
        "git",
        [OsStr::new("-C"), root.as_os_str(), "status".as_ref(), "--porcelain".as_ref()],
    )?;
    if !dirty.is_empty() {
        println!("fresh: testing the last commit, without uncommitted changes");
    }
    let place = plan.clone_dir();
    remove(&place)?;
    check(Command::new("git").args(["clone", "--quiet", "--no-hardlinks"]).arg(root).arg(&place))?;
    let owner = format!("{}:", plan.account());
    check(Command::new("chroot").arg(system).args(["chown", "-R", &owner, "/srv/helmdeck"]))
}

fn remove(dir: &Path) -> Result<(), String> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", dir.display()))
        }
        _ => Ok(()),
    }
}

/// Runs a command that must succeed.
fn check(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} failed: {status}")),
        Err(error) => Err(format!("{name} could not be started: {error}")),
    }
}

/// The output of a command that must succeed.
fn output<S: AsRef<OsStr>>(
    program: &str,
    args: impl IntoIterator<Item = S>,
) -> Result<String, String> {
    let failed = |error: String| format!("{program} failed: {error}");
    let output =
        Command::new(program).args(args).output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
