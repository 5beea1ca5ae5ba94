//! Processor time of a session's processes.

use std::{fs, path::Path};

use helmdeck_testkit::Process;

/// Ticks in a second, on every Linux with the usual configuration.
const TICKS: f64 = 100.0;

/// Seconds of processor time that processes have used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Used {
    pub guest: f64,
    pub display: f64,
    pub browser: f64,
    /// Our readers of accessible elements.
    pub readers: f64,
    /// The window manager, the panel and the accessibility bus.
    pub others: f64,
}

impl Used {
    /// What the sessions of the server with this run directory have used until now.
    pub fn now(run_dir: &Path) -> Self {
        let mut used = Self::default();
        for process in Process::in_sandboxes(run_dir) {
            let command = &process.command;
            let field = if command.contains("helmdeck guest") {
                &mut used.guest
            } else if command.contains("helmdeck accessibility") {
                &mut used.readers
            } else if command.contains("Xtigervnc") || command.contains("Xvnc") {
                &mut used.display
            } else if command.contains("chrom") {
                &mut used.browser
            } else {
                &mut used.others
            };
            *field += seconds(process.pid);
        }
        used
    }

    /// Seconds since an earlier moment.
    pub fn since(self, earlier: Self) -> [(&'static str, f64); 5] {
        [
            ("guest", self.guest - earlier.guest),
            ("Xvnc", self.display - earlier.display),
            ("Chromium", self.browser - earlier.browser),
            ("accessibility readers", self.readers - earlier.readers),
            ("others", self.others - earlier.others),
        ]
    }
}

fn seconds(pid: i32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}
