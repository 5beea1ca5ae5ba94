//! Runs a program to see what it says, without waiting for one that hangs.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

/// What a program that ran to its end said.
pub(super) struct Said {
    pub(super) succeeded: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a command to its end; the error is a sentence for the report.
pub(super) fn attempt(command: &mut Command) -> Result<Said, String> {
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
                // Nothing is left to do if it cannot be ended: the report says that it hangs.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{name} did not end within {} s", DEADLINE.as_secs()));
            }
        }
    };
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    Ok(Said { succeeded: status.success(), stdout: text(stdout), stderr: text(stderr) })
}

/// The first line of what a program prints, wherever it prints it.
pub(super) fn first_line(command: &mut Command) -> Option<String> {
    let said = attempt(command).ok()?;
    let lines = said.stdout.lines().chain(said.stderr.lines());
    lines.map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Reads in a thread of its own, so that a full pipe does not stop the program.
fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
