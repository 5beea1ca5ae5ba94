//! The server's directories and address, and available disk and memory.

use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use helmdeck_server::Config;
use rustix::fs::Access;

use super::Finding;

const MEBIBYTE: u64 = 1 << 20;
/// Below this, profiles and downloads soon fill the disk.
const LEAST_DISK_MIB: u64 = 2048;
/// Memory of a desktop session with an open page.
const SESSION_MIB: u64 = 400;
/// Permission bit that lets others enter a directory.
const ENTER_FOR_ALL: u32 = 0o001;

pub(super) fn check(config: &Config) -> Vec<Finding> {
    let Config { addr, data_dir, run_dir, max_sessions, .. } = config;
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    vec![
        writable("data directory", data_dir, "HELMDECK_DATA_DIR"),
        run_directory(run_dir),
        port(*addr, data_dir),
        disk(data_dir),
        memory(&meminfo, *max_sessions),
    ]
}

fn writable(what: &str, dir: &Path, variable: &str) -> Finding {
    let shown = dir.display();
    let Some(there) = nearest(dir) else {
        return Finding::missing(what, format!("{shown} is nowhere"), format!("set {variable}"));
    };
    let allowed = rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK);
    match allowed {
        Ok(()) if !there.is_dir() => Finding::missing(
            what,
            format!("{} is not a directory", there.display()),
            format!("move it away, or set {variable} to another directory"),
        ),
        Ok(()) if there == dir => Finding::ok(what, format!("{shown} is writable")),
        Ok(()) => Finding::ok(what, format!("{shown} will be created")),
        Err(error) => Finding::missing(
            what,
            format!("{} is not writable: {error}", there.display()),
            format!("set {variable} to a writable directory, or run as its owner"),
        ),
    }
}

/// As root, each sandbox has its own uid and must be able to enter all parent folders.
fn run_directory(dir: &Path) -> Finding {
    let what = "run directory";
    let finding = writable(what, dir, "HELMDECK_RUN_DIR");
    if !rustix::process::geteuid().is_root() {
        return finding;
    }
    match dir.ancestors().filter(|dir| dir.exists()).find(|dir| !all_may_enter(dir)) {
        None => finding,
        Some(closed) => Finding::missing(
            what,
            format!("sandboxes cannot enter {}", closed.display()),
            format!("chmod o+x {}, or set HELMDECK_RUN_DIR", closed.display()),
        ),
    }
}

fn all_may_enter(dir: &Path) -> bool {
    fs::metadata(dir).is_ok_and(|found| found.permissions().mode() & ENTER_FOR_ALL != 0)
}

/// The nearest existing parent of a path.
fn nearest(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| path.exists())
}

fn port(addr: SocketAddr, data_dir: &Path) -> Finding {
    let what = "address";
    let Err(error) = TcpListener::bind(addr) else {
        return Finding::ok(what, format!("{addr} is free"));
    };
    match (error.kind(), server(data_dir)) {
        (ErrorKind::AddrInUse, Some(pid)) => {
            Finding::ok(what, format!("{addr} is served by helmdeck (pid {pid})"))
        }
        (ErrorKind::AddrInUse, None) => Finding::missing(
            what,
            format!("{addr} is in use by another program"),
            format!("stop it (ss -ltnp 'sport = :{}' shows it), or set HELMDECK_ADDR", addr.port()),
        ),
        _ => Finding::missing(what, format!("{addr}: {error}"), "set HELMDECK_ADDR to another one"),
    }
}

/// The running server on `data_dir`.
fn server(data_dir: &Path) -> Option<u32> {
    let pid = fs::read_to_string(data_dir.join("server.pid")).ok()?.trim().parse().ok()?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    (name.trim() == "helmdeck").then_some(pid)
}

fn disk(data_dir: &Path) -> Finding {
    let what = "disk space";
    let Some(Ok(found)) = nearest(data_dir).map(rustix::fs::statvfs) else {
        return Finding::warn(what, "could not be read", "");
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize) / MEBIBYTE;
    let detail = format!("{} free for {}", size(free), data_dir.display());
    if free < LEAST_DISK_MIB {
        Finding::warn(what, detail, "make room, or set HELMDECK_DATA_DIR to a larger disk")
    } else {
        Finding::ok(what, detail)
    }
}

fn memory(meminfo: &str, max_sessions: usize) -> Finding {
    let what = "memory";
    let available = meminfo.lines().find_map(|line| {
        line.strip_prefix("MemAvailable:")?.split_whitespace().next()?.parse::<u64>().ok()
    });
    let Some(free) = available.map(|kib| kib / 1024) else {
        return Finding::warn(what, "could not be read", "");
    };
    let sessions = free / SESSION_MIB;
    let room = match u64::try_from(max_sessions) {
        Ok(limit) if limit < sessions => format!("{limit} sessions at once (max_sessions)"),
        _ => format!("about {sessions} desktop sessions at once"),
    };
    let detail = format!("{} available: {room}", size(free));
    if sessions < 2 {
        Finding::warn(what, detail, "close other programs, or use a larger machine")
    } else {
        Finding::ok(what, detail)
    }
}

fn size(mib: u64) -> String {
    if mib < 1024 { format!("{mib} MB") } else { format!("{} GB", mib / 1024) }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[test]
    fn a_missing_directory_can_be_created() {
        let dir = tempfile::tempdir().unwrap();
        let finding = writable("data directory", &dir.path().join("a/b"), "X");
        assert_eq!(finding.verdict, Verdict::Ok);
        assert!(finding.detail.ends_with("will be created"), "{finding:?}");
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let finding = writable("data directory", &file.path().join("below"), "X");
        assert_eq!(finding.verdict, Verdict::Missing);
        assert!(finding.detail.contains("is not a directory"), "{finding:?}");
    }

    #[test]
    fn a_port_in_use_is_ours_only_if_the_pid_file_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = taken.local_addr().unwrap();
        fs::write(dir.path().join("server.pid"), "1\n").unwrap();
        assert_eq!(port(addr, dir.path()).verdict, Verdict::Missing);
        drop(taken);
        assert_eq!(port(addr, dir.path()).verdict, Verdict::Ok);
    }

    #[test]
    fn memory_is_reported_in_sessions_up_to_the_limit() {
        assert_eq!(
            memory("MemTotal: 1 kB\nMemAvailable:    4194304 kB\n", 10).detail,
            "4 GB available: about 10 desktop sessions at once"
        );
        assert_eq!(
            memory("MemAvailable:    4194304 kB\n", 9).detail,
            "4 GB available: 9 sessions at once (max_sessions)"
        );
        assert_eq!(memory("MemAvailable: 409600 kB\n", 16).verdict, Verdict::Warn);
        assert_eq!(memory("", 16).verdict, Verdict::Warn);
    }
}
