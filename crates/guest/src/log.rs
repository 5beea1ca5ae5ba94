//! The session's log: the latest output of all programs of the session, kept in memory.

use std::{collections::VecDeque, io::Write, os::fd::OwnedFd, sync::Arc, time::Instant};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    net::unix::pipe,
};

/// Limit on the kept log; older lines are dropped first.
const MAX_BYTES: usize = 512 << 10;
/// Limit on what is also written to standard error, a file outside that outlives us.
const MAX_OUTSIDE: usize = 1 << 20;
/// Limit on the part sent with a report; the link accepts no longer ones.
const MAX_TAIL: usize = 64 << 10;
/// Longer lines are cut.
const MAX_LINE: u64 = 4096;

/// A cheap handle to the log.
#[derive(Clone)]
pub struct Log {
    lines: Arc<Mutex<Lines>>,
    began: Instant,
}

#[derive(Default)]
struct Lines {
    lines: VecDeque<String>,
    bytes: usize,
    outside: usize,
}

impl Default for Log {
    fn default() -> Self {
        Self { lines: Arc::default(), began: Instant::now() }
    }
}

impl Log {
    /// Adds a line, with the time since the guest's start and the name of its source.
    pub fn line(&self, who: &str, text: &str) {
        let text: String = text.trim_end().chars().take(MAX_LINE as usize).collect();
        let line = format!("{:9.3} {who}: {text}", self.began.elapsed().as_secs_f64());
        let mut kept = self.lines.lock();
        if kept.outside < MAX_OUTSIDE {
            kept.outside += line.len();
            // The file may be on a full disk; continue anyway.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        kept.bytes += line.len();
        kept.lines.push_back(line);
        while kept.bytes > MAX_BYTES {
            let Some(dropped) = kept.lines.pop_front() else { break };
            kept.bytes -= dropped.len();
        }
    }

    /// The whole log, oldest line first.
    pub fn text(&self) -> String {
        let kept = self.lines.lock();
        kept.lines.iter().fold(String::with_capacity(kept.bytes), |all, line| all + line + "\n")
    }

    /// The last `count` lines.
    pub fn tail(&self, count: usize) -> String {
        let kept = self.lines.lock();
        let mut room = MAX_TAIL;
        let fits = |line: &&String| {
            let fits = line.len() < room;
            room = room.saturating_sub(line.len());
            fits
        };
        let newest: Vec<_> = kept.lines.iter().rev().take(count).take_while(fits).collect();
        newest.into_iter().rev().fold(String::new(), |all, line| all + line + "\n")
    }

    /// Creates a pipe for a program's output, which is logged under its name. Reading ends when the
    /// last process has closed the pipe.
    pub fn pipe(&self, who: &str) -> std::io::Result<OwnedFd> {
        let (reader, writer) = std::io::pipe()?;
        let reader = OwnedFd::from(reader);
        rustix::io::ioctl_fionbio(&reader, true)?;
        let reader = pipe::Receiver::from_owned_fd(reader)?;
        helmdeck_task::spawn(self.clone().read_lines(who.to_owned(), reader));
        Ok(writer.into())
    }

    /// Continues to read a program's output, and logs it under its name.
    pub fn take(&self, who: &str, reader: pipe::Receiver) {
        helmdeck_task::spawn(self.clone().read_lines(who.to_owned(), reader));
    }

    async fn read_lines(self, who: String, reader: pipe::Receiver) {
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => self.line(&who, &String::from_utf8_lossy(&line)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_lines_are_dropped_for_new_ones() {
        let log = Log::default();
        for n in 0..10_000 {
            log.line("test", &format!("{n} {}", "x".repeat(100)));
        }
        let text = log.text();
        assert!(text.len() <= MAX_BYTES + 10_000);
        assert!(text.lines().last().unwrap().contains("test: 9999 "));
        assert_eq!(log.tail(2).lines().count(), 2);
    }
}
