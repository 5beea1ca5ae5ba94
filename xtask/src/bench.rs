//! Measurements on a real display.

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the benchmark that `args` names.
pub fn run(_args: Vec<OsString>) -> ExitCode {
    eprintln!("There are no benchmarks yet.");
    ExitCode::FAILURE
}
