//! Limits with control groups: version 2 where it is delegated to us, version 1 as root.
//!
//! There is one group for this installation, with one child for each sandbox. A sandbox joins
//! before it drops its privileges, so all its processes are inside.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{RuntimeError, SandboxId, SandboxLimits, Usage, error::Doing};

/// A group can be removed only some milliseconds after its last process ended; longer on a busy
/// machine or after a fork bomb.
const REMOVE_TRIES: u32 = 1000;
const REMOVE_PAUSE: Duration = Duration::from_millis(5);
/// The period in which processor time is counted.
const CPU_PERIOD_US: u64 = 100_000;

/// The control groups of this installation.
#[derive(Debug, Clone)]
pub enum Cgroups {
    /// One unified tree.
    V2(PathBuf),
    /// A tree for each controller.
    V1 { memory: PathBuf, cpu: PathBuf, pids: PathBuf },
    /// No usable control groups.
    None,
}

impl Cgroups {
    /// Detects what is usable by trying it.
    pub fn detect(instance: &str) -> Self {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let name = format!("helmdeck-{instance}");
        let candidates = [v2(&own, &mounts, &name), v1(&own, &mounts, &name)];
        candidates.into_iter().flatten().find(Self::works).unwrap_or(Self::None)
    }

    /// Creates the group of a sandbox with its limits. A process joins by writing `0` to the
    /// returned files.
    pub fn create(
        &self,
        id: &SandboxId,
        limits: &SandboxLimits,
    ) -> Result<Vec<File>, RuntimeError> {
        // The common group may be removed with the last sandbox while we use it; try twice.
        self.try_create(id, limits).or_else(|_| self.try_create(id, limits))
    }

    fn try_create(
        &self,
        id: &SandboxId,
        limits: &SandboxLimits,
    ) -> Result<Vec<File>, RuntimeError> {
        if let Self::V2(tree) = self {
            fs::create_dir_all(tree).doing("create", tree)?;
            set(&tree.join("cgroup.subtree_control"), "+memory +pids +cpu")?;
        }
        for (dir, settings) in self.settings(limits) {
            let dir = dir.join(id.as_str());
            fs::create_dir_all(&dir).doing("create", &dir)?;
            for (file, value) in settings {
                set(&dir.join(file), &value)?;
            }
        }
        let open = |dir: PathBuf| {
            let path = dir.join(id.as_str()).join("cgroup.procs");
            OpenOptions::new().write(true).open(&path).doing("open", path)
        };
        self.trees().into_iter().map(open).collect()
    }

    /// Removes the group of a sandbox that has ended.
    pub async fn remove(&self, id: &SandboxId) {
        for tree in self.trees() {
            let dir = tree.join(id.as_str());
            for _ in 0..REMOVE_TRIES {
                match fs::remove_dir(&dir) {
                    Err(e) if e.kind() == io::ErrorKind::ResourceBusy => {
                        tokio::time::sleep(REMOVE_PAUSE).await;
                    }
                    _ => break,
                }
            }
            if dir.exists() {
                tracing::warn!(group = %dir.display(), "Control group could not be removed");
            }
            // The group of the installation is removed with its last sandbox.
            let _ = fs::remove_dir(tree);
        }
    }

    /// The usage of a sandbox.
    pub fn usage(&self, id: &SandboxId) -> Option<Usage> {
        let number = |dir: &Path, file| read_number(&dir.join(id.as_str()).join(file));
        let field = |dir: &Path, file, name| read_field(&dir.join(id.as_str()).join(file), name);
        match self {
            Self::V2(dir) => Some(Usage {
                memory_bytes: number(dir, "memory.current")?,
                pids: number(dir, "pids.current")?,
                out_of_memory: field(dir, "memory.events", "oom_kill").unwrap_or(0),
            }),
            Self::V1 { memory, pids, .. } => Some(Usage {
                memory_bytes: number(memory, "memory.usage_in_bytes")?,
                pids: number(pids, "pids.current")?,
                out_of_memory: field(memory, "memory.oom_control", "oom_kill").unwrap_or(0),
            }),
            Self::None => None,
        }
    }

    /// The name of the mechanism.
    pub fn name(&self) -> &'static str {
        match self {
            Self::V2(_) => "cgroup-v2",
            Self::V1 { .. } => "cgroup-v1",
            Self::None => "rlimit+watchdog",
        }
    }

    /// All groups of this installation, without those of sandboxes.
    pub fn all(&self) -> Vec<PathBuf> {
        let mut all = self.trees();
        if let Self::V2(tree) = self {
            all.push(leaf(tree));
        }
        all
    }

    fn trees(&self) -> Vec<PathBuf> {
        match self {
            Self::V2(dir) => vec![dir.clone()],
            Self::V1 { memory, cpu, pids } => vec![memory.clone(), cpu.clone(), pids.clone()],
            Self::None => Vec::new(),
        }
    }

    /// The files to write, for each tree.
    fn settings(&self, limits: &SandboxLimits) -> Vec<(PathBuf, Vec<(&'static str, String)>)> {
        let memory = limits.memory_bytes.to_string();
        let pids = limits.pids.to_string();
        // There are at most a thousand cores, so the cast is exact.
        let quota = limits.cpu_cores.map(|cores| (cores * CPU_PERIOD_US as f64) as u64);
        match self {
            Self::V2(dir) => {
                let cpu =
                    quota.map_or("max".to_owned(), |quota| format!("{quota} {CPU_PERIOD_US}"));
                let swap = ("memory.swap.max", "0".to_owned());
                let settings =
                    vec![("memory.max", memory), swap, ("pids.max", pids), ("cpu.max", cpu)];
                vec![(dir.clone(), settings)]
            }
            Self::V1 { memory: tree, cpu, pids: pids_tree } => {
                let quota = quota.map_or("-1".to_owned(), |quota| quota.to_string());
                vec![
                    (
                        tree.clone(),
                        vec![
                            ("memory.limit_in_bytes", memory.clone()),
                            ("memory.memsw.limit_in_bytes", memory),
                        ],
                    ),
                    (cpu.clone(), vec![("cpu.cfs_quota_us", quota)]),
                    (pids_tree.clone(), vec![("pids.max", pids)]),
                ]
            }
            Self::None => Vec::new(),
        }
    }

    /// Creates a group, sets its limits and removes it: the only reliable test.
    fn works(&self) -> bool {
        let Ok(probe) = SandboxId::new("probe") else { return false };
        let made = self.create(&probe, &SandboxLimits::default()).is_ok();
        for tree in self.trees() {
            let _ = fs::remove_dir(tree.join(probe.as_str()));
            let _ = fs::remove_dir(tree);
        }
        made
    }
}

/// Our own group in the unified tree, if memory and processes can be limited below it.
fn v2(own: &str, mounts: &str, name: &str) -> Option<Cgroups> {
    let group = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let home = mount_of(mounts, "cgroup2", None)?.join(group.trim_start_matches('/'));
    let offered = fs::read_to_string(home.join("cgroup.controllers")).ok()?;
    let offers = |controller| offered.split_whitespace().any(|word| word == controller);
    if !(offers("memory") && offers("pids") && offers("cpu")) {
        return None;
    }
    // A group with delegated controllers must not contain processes, so we move to a leaf first.
    let tree = home.join(name);
    let leaf = leaf(&tree);
    fs::create_dir_all(&leaf).ok()?;
    fs::write(leaf.join("cgroup.procs"), "0").ok()?;
    fs::write(home.join("cgroup.subtree_control"), "+memory +pids +cpu").ok()?;
    Some(Cgroups::V2(tree))
}

/// The group of the server itself, beside the tree of its sandboxes.
fn leaf(tree: &Path) -> PathBuf {
    let name = tree.file_name().unwrap_or_default().to_string_lossy();
    tree.with_file_name(format!("{name}-server"))
}

/// Our own groups in the tree of each controller, so that limits on us still apply.
fn v1(own: &str, mounts: &str, name: &str) -> Option<Cgroups> {
    let tree = |controller: &str| {
        let group = own.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, group) = rest.split_once(':')?;
            controllers.split(',').any(|c| c == controller).then_some(group)
        })?;
        let mount = mount_of(mounts, "cgroup", Some(controller))?;
        Some(mount.join(group.trim_start_matches('/')).join(name))
    };
    Some(Cgroups::V1 { memory: tree("memory")?, cpu: tree("cpu")?, pids: tree("pids")? })
}

fn mount_of(mounts: &str, kind: &str, controller: Option<&str>) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (path, found, options) = (words.next()?, words.next()?, words.next()?);
        let wanted = controller.is_none_or(|wanted| options.split(',').any(|o| o == wanted));
        (found == kind && wanted).then(|| PathBuf::from(path))
    })
}

/// Swap limits are missing without swap accounting; everything else must work.
fn set(path: &Path, value: &str) -> Result<(), RuntimeError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let optional = name.contains("swap") || name.contains("memsw");
    if optional && !path.exists() {
        return Ok(());
    }
    fs::write(path, value).doing("write", path)
}

fn read_number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn read_field(path: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
        cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
        cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\n";

    #[test]
    fn groups_are_created_below_our_own() {
        let own = "4:memory:/service\n3:cpu,cpuacct:/\n2:pids:/a/b\n0::/\n";
        let Some(Cgroups::V1 { memory, cpu, pids }) = v1(own, MOUNTS, "helmdeck-x") else {
            panic!("version 1 is there");
        };
        assert_eq!(memory, Path::new("/sys/fs/cgroup/memory/service/helmdeck-x"));
        assert_eq!(cpu, Path::new("/sys/fs/cgroup/cpu,cpuacct/helmdeck-x"));
        assert_eq!(pids, Path::new("/sys/fs/cgroup/pids/a/b/helmdeck-x"));
    }

    #[test]
    fn a_missing_controller_means_no_groups() {
        assert!(v1("4:memory:/\n", MOUNTS, "helmdeck-x").is_none());
        assert!(v2("4:memory:/\n", MOUNTS, "helmdeck-x").is_none());
    }
}
