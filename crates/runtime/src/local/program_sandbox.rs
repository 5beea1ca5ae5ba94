//! A program that runs beside the sandboxes of sessions, in its own small sandbox.

use std::path::Path;

use tokio::process::Command;

use super::{arguments::Line, seccomp, uid};
use crate::{IsolatedProgram, RuntimeError};

/// Its only account.
const PASSWD: &[u8] = b"agent:x:1000:1000::/nonexistent:/usr/sbin/nologin\n";

/// The command that runs it. Nothing of the machine is visible but `/usr`, and the connection is the
/// only way out. It ends with the thread that starts it, or with the returned command's child.
pub fn command(
    root: &Path,
    drop_privileges: bool,
    program: IsolatedProgram,
) -> Result<Command, RuntimeError> {
    let memory = |bytes: &[u8]| {
        helmdeck_spawn::memory_file("file", bytes)
            .map_err(|e| RuntimeError::System("a file of the sandbox cannot be stored", e))
    };
    let mut command = Command::new("bwrap");
    command.kill_on_drop(true);
    let std = command.as_std_mut();
    helmdeck_spawn::inherit_nothing(std);
    helmdeck_spawn::new_session(std);
    helmdeck_spawn::usual_descriptors(std);
    if drop_privileges {
        helmdeck_spawn::drop_to(std, uid::ALONE);
    }
    let mut keep = |fd| helmdeck_spawn::keep_fd(std, fd);
    let mut line = Line::default();
    line.words("--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts");
    line.words("--unshare-cgroup-try --uid 1000 --gid 1000 --clearenv --die-with-parent");
    line.words("--setenv PATH /usr/local/bin:/usr/bin:/bin --setenv LC_ALL C.UTF-8");
    line.words("--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/sbin /sbin");
    line.words("--symlink usr/lib /lib --symlink usr/lib64 /lib64");
    line.words("--proc /proc --dev /dev");
    for name in ["ld.so.cache", "ssl/openssl.cnf"] {
        line.bind("--ro-bind-try", &Path::new("/etc").join(name), &format!("/etc/{name}"));
    }
    line.words(&format!("--perms 0644 --file {} /etc/passwd", keep(memory(PASSWD)?)));
    for (path, content) in &program.files {
        line.words(&format!("--perms 0600 --file {} {path}", keep(memory(content)?)));
    }
    line.bind("--ro-bind", &root.join("bin/helmdeck"), "/opt/helmdeck/helmdeck");
    line.words("--chdir / --remount-ro /dev --remount-ro /");
    line.words(&format!("--seccomp {}", keep(memory(&seccomp::nested()?)?)));
    line.words(&format!("/opt/helmdeck/helmdeck {} --connection-fd", program.command));
    line.words(&keep(program.connection).to_string());
    line.words("--");
    command.args(line.0).args(program.arguments);
    Ok(command)
}
