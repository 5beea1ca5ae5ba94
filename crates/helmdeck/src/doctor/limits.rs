//! Whether control groups can limit memory, processes and CPU time of a session.

use std::fs;
use std::path::{Path, PathBuf};

use super::Finding;

const WHAT: &str = "control groups";
const NEEDED: [&str; 2] = ["memory", "pids"];

pub(super) fn check() -> Finding {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let root = rustix::process::geteuid().is_root();

    let unified = group(&mounts, &own, Controller::Unified);
    let unified = unified.filter(|group| has_controllers(group));
    if unified.as_deref().is_some_and(|group| prove(group).is_ok()) {
        return Finding::ok(WHAT, "version 2, this user can create groups");
    }
    let by_name = |name| group(&mounts, &own, Controller::Named(name));
    let groups: Option<Vec<PathBuf>> = NEEDED.iter().map(|name| by_name(name)).collect();
    if root && groups.is_some_and(|groups| groups.iter().all(|group| prove(group).is_ok())) {
        return Finding::ok(WHAT, "version 1, as root");
    }
    let fix = match (unified, root) {
        (_, true) => "mount the control groups of this machine or container writable",
        (Some(_), false) => "systemd-run --user --scope -p Delegate=yes helmdeck serve",
        (None, false) => "run the server as root, or on a system with version 2",
    };
    Finding::warn(WHAT, "this user cannot create groups; sessions get rlimits and a watchdog", fix)
}

#[derive(Debug, Clone, Copy)]
enum Controller<'a> {
    Unified,
    Named(&'a str),
}

/// The control group of this process for a controller.
fn group(mounts: &str, own: &str, controller: Controller<'_>) -> Option<PathBuf> {
    let mount = mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let kind = right.next()?;
        let fits = match controller {
            Controller::Unified => kind == "cgroup2",
            Controller::Named(name) => {
                kind == "cgroup" && right.nth(1)?.split(',').any(|option| option == name)
            }
        };
        fits.then(|| left.split(' ').nth(4)).flatten()
    })?;
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (names, path) = (fields.next()?, fields.next()?);
        let fits = match controller {
            Controller::Unified => names.is_empty(),
            Controller::Named(name) => names.split(',').any(|listed| listed == name),
        };
        fits.then_some(path)
    })?;
    Some(Path::new(mount).join(path.trim_start_matches('/')))
}

fn has_controllers(group: &Path) -> bool {
    let listed = fs::read_to_string(group.join("cgroup.controllers")).unwrap_or_default();
    NEEDED.iter().all(|name| listed.split_whitespace().any(|listed| listed == *name))
}

/// Creates and removes a group: file modes alone do not tell whether that is allowed.
fn prove(group: &Path) -> std::io::Result<()> {
    rustix::fs::access(group.join("cgroup.procs"), rustix::fs::Access::WRITE_OK)?;
    let child = group.join(format!("helmdeck-doctor-{}", std::process::id()));
    fs::create_dir(&child)?;
    let limit = child.join("pids.max");
    let limited = if limit.exists() { fs::write(limit, "100") } else { Ok(()) };
    limited.and(fs::remove_dir(&child))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
30 23 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
31 23 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
32 23 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const OWN: &str = "4:memory:/jobs/1\n3:cpu,cpuacct:/\n0::/user.slice\n";

    #[test]
    fn the_own_group_of_each_controller_is_found() {
        let find = |controller| group(MOUNTS, OWN, controller);
        let path = |path: &str| Some(PathBuf::from(path));
        assert_eq!(find(Controller::Named("memory")), path("/sys/fs/cgroup/memory/jobs/1"));
        assert_eq!(find(Controller::Named("cpuacct")), path("/sys/fs/cgroup/cpu/"));
        assert_eq!(find(Controller::Unified), path("/sys/fs/cgroup/unified/user.slice"));
        assert_eq!(find(Controller::Named("pids")), None);
    }
}
