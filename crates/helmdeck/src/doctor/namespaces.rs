//! Whether an unprivileged user can create a sandbox, and another one inside it.

use std::fs;
use std::process::Command;

use super::attempt::attempt;
use super::{Finding, as_root, programs};

/// One sandbox level with every namespace that helmdeck uses.
const LEVEL: [&str; 11] = [
    "bwrap",
    "--unshare-user",
    "--unshare-pid",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--",
];
/// How a server that runs as root drops its privileges. The uid of nobody stands for the one each
/// sandbox gets.
const UNPRIVILEGED: [&str; 7] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
    "--inh-caps=-all",
    "--bounding-set=-all",
    "--no-new-privs",
];

/// Kernel settings that can forbid user namespaces: file, forbidding value, fix.
const SWITCHES: [(&str, &str, &str); 3] = [
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
];

pub(super) fn check() -> Vec<Finding> {
    if programs::find("bwrap").is_none() {
        let detail = "cannot be tested without bubblewrap";
        return vec![Finding::missing("sandbox", detail, super::install("bubblewrap"))];
    }
    let network: [&str; 1] = ["--unshare-net"];
    vec![
        try_sandbox("sandbox", &network, &["true"]),
        try_sandbox("sandbox in a sandbox", &network, &[&LEVEL[..], &["true"]].concat()),
        apparmor(),
    ]
}

fn try_sandbox(what: &str, more: &[&str], program: &[&str]) -> Finding {
    let root = rustix::process::geteuid().is_root();
    let before: &[&str] = if root { &UNPRIVILEGED } else { &[] };
    let (bwrap, options) = LEVEL.split_at(1);
    let words = [before, bwrap, more, options, program].concat();
    let Some((first, rest)) = words.split_first() else {
        return Finding::missing(what, "nothing to try", "");
    };
    match attempt(Command::new(first).args(rest).current_dir("/")) {
        Ok(said) if said.succeeded => {
            let who = if root { "an unprivileged user" } else { "this user" };
            Finding::ok(what, format!("{who} can create one"))
        }
        Ok(said) => Finding::missing(what, refusal(&said.stderr), fix()),
        Err(reason) => Finding::missing(what, reason, fix()),
    }
}

fn refusal(stderr: &str) -> String {
    let last = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or("bwrap failed without a message").to_owned()
}

/// The setting that forbids it, or where to look otherwise.
fn fix() -> String {
    let off = SWITCHES.iter().find(|(path, forbids, _)| setting(path).as_deref() == Some(forbids));
    match off {
        Some((_, _, command)) => as_root(command),
        None if programs::find("setpriv").is_none() => super::install("util-linux"),
        None => "allow user namespaces here; inside a container, start it with a seccomp profile \
                 and capabilities that permit unshare and mount"
            .to_owned(),
    }
}

/// Ubuntu lets only programs with an AppArmor profile use user namespaces.
fn apparmor() -> Finding {
    let (path, forbids, command) = SWITCHES[0];
    match setting(path) {
        None => Finding::ok("AppArmor", "does not restrict user namespaces on this kernel"),
        Some(value) if value == forbids => Finding::warn(
            "AppArmor",
            "restricts user namespaces; fine only if the two sandboxes above are ok",
            format!("{}, or a profile for bwrap that allows userns", as_root(command)),
        ),
        Some(_) => Finding::ok("AppArmor", "user namespaces are allowed"),
    }
}

fn setting(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_the_last_line_of_bwraps_output() {
        let stderr = "warning\nbwrap: setting up uid map: Permission denied\n\n";
        assert_eq!(refusal(stderr), "bwrap: setting up uid map: Permission denied");
        assert_eq!(refusal(""), "bwrap failed without a message");
    }
}
