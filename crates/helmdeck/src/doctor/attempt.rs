//! Runs a program with a deadline and captures its output.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

/// Output of a program.
pub(super) struct ProgramOutput {
    pub(super) succeeded: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a command to its end. The error is a sentence for the report.
pub(super) fn attempt(command: &mut Command) -> Result<ProgramOutput, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{name} could not be started: {error}"))?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let began = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if began.elapsed() < DEADLINE => thread::sleep(POLL),
            _ => {
                // If it cannot be killed, the report still says that it hangs.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{name} did not end within {} s", DEADLINE.as_secs()));
            }
        }
    };
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    Ok(ProgramOutput { succeeded: status.success(), stdout: text(stdout), stderr: text(stderr) })
}

/// The first line that a program prints to either output.
pub(super) fn first_line(command: &mut Command) -> Option<String> {
    let said = attempt(command).ok()?;
    let lines = said.stdout.lines().chain(said.stderr.lines());
    lines.map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Reads in a separate thread, so that a full pipe does not block the program.
fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Keep what was read before an error.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
