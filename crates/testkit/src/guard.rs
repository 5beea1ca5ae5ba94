//! Nothing of a test stays when it is killed.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

/// A process that outlives the test by a moment if the test is killed, and then ends its server
/// with the sandboxes and removes its directories.
pub(crate) struct Guard {
    process: Child,
}

impl Guard {
    /// Begins to watch over the installation in a directory.
    pub(crate) fn new(dir: &Path) -> Self {
        let mut command = Command::new("bash");
        command.args(["-c", include_str!("guard.sh")]).stdin(Stdio::piped());
        // In the group of the test, it would be ended with it; and a runner waits for all that can
        // still write to the test's output.
        command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
        let mut guard = Self { process: command.spawn().expect("bash is installed") };
        guard.tell(&dir.display().to_string());
        guard
    }

    fn tell(&mut self, line: &str) {
        if let Some(stdin) = &mut self.process.stdin {
            // A guard that is gone is no reason for a test to fail.
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
