//! Cleans up after tests that are killed.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

/// A process that outlives a killed test, ends its server and sandboxes, and removes its
/// directories.
pub(crate) struct Guard {
    process: Child,
}

impl Guard {
    /// Starts to watch the installation in a directory.
    pub(crate) fn new(dir: &Path) -> Self {
        let mut command = Command::new("bash");
        command.args(["-c", include_str!("guard.sh")]).stdin(Stdio::piped());
        // A separate process group, because the test's group is killed as a whole. No output,
        // because test runners wait until all writers have closed it.
        command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
        let mut guard = Self { process: command.spawn().expect("bash is installed") };
        guard.tell(&dir.display().to_string());
        guard
    }

    fn tell(&mut self, line: &str) {
        if let Some(stdin) = &mut self.process.stdin {
            // A missing guard must not fail a test.
            let _ = writeln!(stdin, "{line}");
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.tell("done");
        let _ = self.process.wait();
    }
}
