//! Follows a job on the command line: a progress bar on a terminal, otherwise a line for every change.

use std::{
    error::Error,
    io::{IsTerminal, Write, stderr},
    process::ExitCode,
    time::{Duration, Instant},
};

use bytes::Bytes;
use helmdeck_wire::job::{Job, JobId, JobState};
use http::Method;
use tokio::time::sleep;

use crate::{
    remote::{ConnectFailure, Remote},
    rest::{DEADLINE, ask},
    stop_signal::stop_signal,
    tools::escape,
};

/// Exit code of a job that was cancelled, as shells have it for Ctrl-C.
pub const CANCELLED: u8 = 130;
/// How long a server may be away, for example while it restarts.
const AWAY: Duration = Duration::from_secs(60);
/// Pause before the next try.
const RETRY_EVERY: Duration = Duration::from_secs(1);
/// Width of the bar.
const BAR: usize = 20;
/// Longest message beside the bar, so that the line fits on a terminal.
const MESSAGE: usize = 38;

/// The path of a job.
pub fn path(id: &JobId) -> String {
    format!("/api/v1/jobs/{}", escape(id.as_str()))
}

/// Follows a job until it ends. Ctrl-C cancels it if `cancels` is set, and otherwise ends only the
/// command: `None`.
pub async fn follow(
    server: &Remote,
    id: &JobId,
    cancels: bool,
) -> Result<Option<Job>, Box<dyn Error>> {
    let mut display = Display::new();
    let stop = stop_signal()?;
    let ended = tokio::select! {
        ended = until_end(server, id, &mut display) => Some(ended),
        () = stop => None,
    };
    display.clear();
    match ended {
        Some(ended) => Ok(Some(ended?)),
        None if !cancels => Ok(None),
        None => {
            eprintln!("Cancelling {id} …");
            // A second Ctrl-C ends the command at once.
            let stop = stop_signal()?;
            let path = path(id);
            let cancelled = ask(server, Method::DELETE, &path, Bytes::new(), DEADLINE * 2);
            let answer = tokio::select! {
                answer = cancelled => answer?,
                () = stop => return Ok(None),
            };
            Ok(Some(serde_json::from_slice(&answer.body)?))
        }
    }
}

async fn until_end(
    server: &Remote,
    id: &JobId,
    display: &mut Display,
) -> Result<Job, Box<dyn Error>> {
    // The server answers at the end, or after a second with the progress.
    let path = format!("{}?wait_s=1", path(id));
    let mut away: Option<Instant> = None;
    loop {
        match ask(server, Method::GET, &path, Bytes::new(), DEADLINE).await {
            Ok(answer) => {
                away = None;
                let job: Job = serde_json::from_slice(&answer.body)?;
                if job.state != JobState::Working {
                    return Ok(job);
                }
                display.show(&job);
            }
            Err(error @ ConnectFailure::Refused(..)) => return Err(error.into()),
            Err(error) => {
                if away.get_or_insert_with(Instant::now).elapsed() > AWAY {
                    return Err(error.into());
                }
                sleep(RETRY_EVERY).await;
            }
        }
    }
}

/// The exit code of a command that waited for this job, after it printed why the job failed.
pub fn exit_code(job: &Job) -> ExitCode {
    if let Some(error) = &job.error {
        eprintln!("helmdeck: {} ({})", error.message, error.error);
        if let Some(hint) = &error.hint {
            eprintln!("helmdeck: {hint}");
        }
    }
    match job.state {
        JobState::Completed | JobState::Working => ExitCode::SUCCESS,
        JobState::Cancelled => ExitCode::from(CANCELLED),
        JobState::Failed => ExitCode::FAILURE,
    }
}

/// Shows progress on standard error.
struct Display {
    terminal: bool,
    last: String,
}

impl Display {
    fn new() -> Self {
        Self { terminal: stderr().is_terminal(), last: String::new() }
    }

    fn show(&mut self, job: &Job) {
        let mut out = stderr().lock();
        // Write errors are ignored: the result counts.
        if self.terminal {
            let _ = write!(out, "\r{}\x1b[K", bar(job));
            let _ = out.flush();
            self.last = " ".to_owned();
        } else {
            let line = plain(job);
            if line != self.last {
                let _ = writeln!(out, "{line}");
                self.last = line;
            }
        }
    }

    /// Removes the bar.
    fn clear(&mut self) {
        if self.terminal && !self.last.is_empty() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// A line with a bar.
fn bar(job: &Job) -> String {
    let done = usize::from(job.progress.min(100)) * BAR / 100;
    let seconds = job.duration_ms / 1000;
    let message: String = message(job).chars().take(MESSAGE).collect();
    format!(
        "[{}{}] {:>3} %  {seconds} s  {message}",
        "█".repeat(done),
        " ".repeat(BAR - done),
        job.progress
    )
}

fn plain(job: &Job) -> String {
    format!("{} % {}", job.progress, message(job))
}

/// What it does, without characters that would move the cursor.
fn message(job: &Job) -> String {
    let said = job.message.as_deref().unwrap_or("working");
    said.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(progress: u8, message: &str) -> Job {
        serde_json::from_value(json!({
            "job_id": "job-1", "pack": "repo.fetch", "version": "v1", "state": "working",
            "progress": progress, "message": message, "duration_ms": 12_345,
            "created_at": "2026-01-02T03:04:05Z",
        }))
        .unwrap()
    }

    #[test]
    fn a_bar_shows_the_done_part_and_fits_on_a_terminal() {
        assert_eq!(
            bar(&job(50, "cloning")),
            format!("[{0}{1}]  50 %  12 s  cloning", "█".repeat(10), " ".repeat(10))
        );
        assert!(bar(&job(100, &"x".repeat(500))).chars().count() < 80);
        assert!(bar(&job(255, "")).contains(&"█".repeat(BAR)));
    }

    #[test]
    fn a_message_cannot_move_the_cursor() {
        assert_eq!(plain(&job(7, "a\u{1b}[2Jb\nc")), "7 % a [2Jb c");
    }
}
