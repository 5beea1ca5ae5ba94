//! Programs that read what we cannot: poppler's and tesseract.

use std::{
    ffi::OsStr,
    io::{ErrorKind, Read},
    process::{Command, Stdio},
    thread,
};

use crate::DocumentError;

/// Most that is read of a program's output.
const MAX_OUTPUT: u64 = 128 << 20;
/// How much of its complaints is kept.
const MAX_COMPLAINT: u64 = 64 << 10;
/// How much of its complaints an error quotes.
const QUOTED: usize = 1000;

/// Runs a program and returns what it writes. The pack limits its time.
pub fn output<A: AsRef<OsStr>>(
    program: &str,
    args: impl IntoIterator<Item = A>,
) -> Result<Vec<u8>, DocumentError> {
    let failed = |message: String| DocumentError::Program { program: program.to_owned(), message };
    let started = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("OMP_THREAD_LIMIT", "1")
        .spawn();
    let mut child = started.map_err(|error| match error.kind() {
        ErrorKind::NotFound => DocumentError::MissingProgram(program.to_owned()),
        _ => failed(error.to_string()),
    })?;
    let stderr = child.stderr.take();
    let complaints = thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = stderr.by_ref().take(MAX_COMPLAINT).read_to_end(&mut text);
            // The rest is read, so that the program does not wait for us.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        }
        text
    });
    let mut written = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let read = stdout.take(MAX_OUTPUT + 1).read_to_end(&mut written);
        read.map_err(|error| failed(error.to_string()))?;
    }
    if written.len() as u64 > MAX_OUTPUT {
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed(format!("it wrote more than {MAX_OUTPUT} bytes")));
    }
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(written);
    }
    let complaints = complaints.join().unwrap_or_default();
    let complaints = String::from_utf8_lossy(&complaints);
    let complaints = complaints.trim();
    let start = complaints.floor_char_boundary(complaints.len().saturating_sub(QUOTED));
    let message = complaints.get(start..).unwrap_or_default();
    Err(failed(if message.is_empty() { status.to_string() } else { message.to_owned() }))
}
