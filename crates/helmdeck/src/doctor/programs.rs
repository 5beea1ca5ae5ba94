//! The programs that run inside sandboxes, and bubblewrap.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::Access;

use super::attempt::first_line;
use super::{Finding, install};

/// Where sandboxes look for programs: they have only the machine's /usr.
const FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
/// Oldest tested version of bubblewrap.
const OLDEST_BUBBLEWRAP: (u32, u32) = (0, 8);
const AT_SPI_LAUNCHERS: [&str; 3] = [
    "/usr/libexec/at-spi-bus-launcher",
    "/usr/lib/at-spi2-core/at-spi-bus-launcher",
    "/usr/lib/at-spi-bus-launcher",
];

pub(super) fn check() -> Vec<Finding> {
    vec![
        bubblewrap(),
        xvnc(),
        needed("keyboard compiler", "xkbcomp", "x11-xkb-utils"),
        chromium(),
        needed("window manager", "xfwm4", "xfwm4"),
        wanted("panel", "xfce4-panel", "xfce4-panel"),
        wanted("terminal", "xterm", "xterm"),
        wanted("attached displays", "X0tigervnc", "tigervnc-scraping-server"),
        needed("D-Bus", "dbus-daemon", "dbus-daemon"),
        at_spi(),
    ]
}

/// The path of a program that sandboxes can see.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

fn needed(what: &str, program: &str, package: &str) -> Finding {
    match find(program) {
        Some(path) => Finding::ok(what, path.display().to_string()),
        None => Finding::missing(what, format!("{program} is not installed"), install(package)),
    }
}

fn wanted(what: &str, program: &str, package: &str) -> Finding {
    match find(program) {
        Some(path) => Finding::ok(what, path.display().to_string()),
        None => Finding::warn(what, format!("{program} is not installed"), install(package)),
    }
}

fn bubblewrap() -> Finding {
    let Some(path) = find("bwrap") else { return needed("bubblewrap", "bwrap", "bubblewrap") };
    let said = first_line(Command::new(path).arg("--version")).unwrap_or_default();
    match version(&said) {
        Some(found) if found >= OLDEST_BUBBLEWRAP => Finding::ok("bubblewrap", said),
        Some(_) => Finding::missing(
            "bubblewrap",
            format!("{said} is older than {}.{}", OLDEST_BUBBLEWRAP.0, OLDEST_BUBBLEWRAP.1),
            install("bubblewrap"),
        ),
        None => Finding::warn("bubblewrap", "prints no version", install("bubblewrap")),
    }
}

/// The first two numbers of the last word, as in `bubblewrap 0.8.0`.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split_whitespace().last()?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn xvnc() -> Finding {
    let package = "tigervnc-standalone-server";
    let Some(path) = find("Xtigervnc") else { return needed("X server", "Xtigervnc", package) };
    // The one in Debian 13 prints nothing.
    let said = first_line(Command::new(&path).arg("-version"));
    Finding::ok("X server", said.unwrap_or_else(|| path.display().to_string()))
}

fn chromium() -> Finding {
    let Some(path) = find("chromium") else { return needed("Chromium", "chromium", "chromium") };
    if is_snap(&path) {
        return Finding::missing(
            "Chromium",
            format!("{} only starts a snap, which cannot run in a sandbox", path.display()),
            "install Chromium as a .deb build, so that /usr/bin/chromium is not the snap",
        );
    }
    match first_line(Command::new(&path).arg("--version")) {
        Some(said) if said.starts_with("Chromium") => Finding::ok("Chromium", said),
        Some(said) => Finding::warn("Chromium", said, install("chromium")),
        None => Finding::missing("Chromium", "does not start", install("chromium")),
    }
}

/// Ubuntu's package is a link to `snap`, or a script that calls it.
fn is_snap(path: &Path) -> bool {
    let leads_to_snap = path.canonicalize().is_ok_and(|real| real.ends_with("snap"));
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut start));
    leads_to_snap || (read.is_ok() && String::from_utf8_lossy(&start).contains("/snap/"))
}

fn at_spi() -> Finding {
    match AT_SPI_LAUNCHERS.iter().find(|path| is_program(Path::new(path))) {
        Some(path) => Finding::ok("accessibility bus", *path),
        None => Finding::missing(
            "accessibility bus",
            "at-spi-bus-launcher is not installed",
            install("at-spi2-core"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_last_word() {
        assert_eq!(version("bubblewrap 0.8.0"), Some((0, 8)));
        assert_eq!(version("bubblewrap 1.10"), Some((1, 10)));
        assert_eq!(version("bubblewrap"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn a_script_that_starts_a_snap_is_detected() {
        let dir = tempfile::tempdir().unwrap();
        let (snap, real) = (dir.path().join("snapped"), dir.path().join("real"));
        std::fs::write(&snap, "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n").unwrap();
        std::fs::write(&real, "#!/bin/sh\nexec /usr/lib/chromium/chromium \"$@\"\n").unwrap();
        assert!(is_snap(&snap));
        assert!(!is_snap(&real));
    }
}
