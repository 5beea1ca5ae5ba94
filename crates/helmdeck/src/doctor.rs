//! `helmdeck doctor`: checks this machine's requirements, one line each, with the command to fix
//! it.
//!
//! Each requirement is tried out if that is cheap. Nothing is changed: temporary files and control
//! groups are removed.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use helmdeck_server::Config;

mod attempt;
mod fonts;
mod limits;
mod namespaces;
mod places;
mod programs;
mod s3;
mod tls;
mod toolsets;

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    /// Sessions run with restrictions.
    Warn,
    /// Sessions do not run.
    Missing,
    /// Some packs do not run.
    Absent,
}

/// One requirement and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    verdict: Verdict,
    what: String,
    detail: String,
    /// A command or a short instruction. Empty if nothing needs to be done.
    fix: String,
}

impl Finding {
    fn ok(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { verdict: Verdict::Ok, what: what.into(), detail: detail.into(), fix: String::new() }
    }

    fn warn(what: impl Into<String>, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        let (what, detail, fix) = (what.into(), detail.into(), fix.into());
        Self { verdict: Verdict::Warn, what, detail, fix }
    }

    fn absent(what: impl Into<String>, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        let (what, detail, fix) = (what.into(), detail.into(), fix.into());
        Self { verdict: Verdict::Absent, what, detail, fix }
    }

    fn missing(what: impl Into<String>, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        let (what, detail, fix) = (what.into(), detail.into(), fix.into());
        Self { verdict: Verdict::Missing, what, detail, fix }
    }
}

/// Checks everything for a server with these settings and prints the results. Fails if a hard
/// requirement is missing.
pub fn run(config: &Config) -> ExitCode {
    let mut findings = programs::check();
    findings.extend(namespaces::check());
    findings.extend(fonts::check());
    findings.push(limits::check());
    findings.extend(places::check(config));
    findings.push(tls::check(config));
    findings.extend(s3::check(config));
    findings.extend(toolsets::check());

    let colour = if io::stdout().is_terminal() { Colour::Yes } else { Colour::No };
    // A closed pipe, such as `head`, is not an error.
    let _ = write!(io::stdout(), "{}", FindingsReport { findings: &findings, colour });
    if findings.iter().any(|finding| finding.verdict == Verdict::Missing) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    Yes,
    No,
}

/// Formats the findings for people.
struct FindingsReport<'a> {
    findings: &'a [Finding],
    colour: Colour,
}

impl fmt::Display for FindingsReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Finding { verdict, what, detail, fix } in self.findings {
            let (mark, code) = match verdict {
                Verdict::Ok => ("ok", "32"),
                Verdict::Warn => ("warn", "33"),
                Verdict::Missing => ("MISSING", "1;31"),
                Verdict::Absent => ("absent", "2"),
            };
            match self.colour {
                Colour::Yes => write!(f, "\x1b[{code}m{mark:<7}\x1b[0m  {what:<22}  {detail}")?,
                Colour::No => write!(f, "{mark:<7}  {what:<22}  {detail}")?,
            }
            if !fix.is_empty() {
                write!(f, "; fix: {fix}")?;
            }
            writeln!(f)?;
        }
        let count = |wanted| self.findings.iter().filter(|f| f.verdict == wanted).count();
        match (count(Verdict::Missing), count(Verdict::Warn)) {
            (0, 0) => writeln!(f, "All requirements are met."),
            (0, warnings) => writeln!(f, "Sessions can run; warnings: {warnings}."),
            (missing, _) => writeln!(f, "Requirements missing: {missing}. Sessions cannot run."),
        }
    }
}

/// A command that needs root, as the current user types it.
fn as_root(command: &str) -> String {
    if rustix::process::geteuid().is_root() {
        command.to_owned()
    } else {
        format!("sudo {command}")
    }
}

/// The command that installs a Debian package.
fn install(package: &str) -> String {
    as_root(&format!("apt-get install --no-install-recommends {package}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_requirement_is_one_line_with_its_fix() {
        let findings = [
            Finding::ok("bubblewrap", "0.8.0"),
            Finding::warn("memory", "1 GB free", "close something"),
            Finding::missing("Chromium", "not found", "apt-get install chromium"),
            Finding::absent("toolset media", "no ffmpeg", "install media"),
        ];
        assert_eq!(
            FindingsReport { findings: &findings, colour: Colour::No }.to_string(),
            "ok       bubblewrap              0.8.0\n\
             warn     memory                  1 GB free; fix: close something\n\
             MISSING  Chromium                not found; fix: apt-get install chromium\n\
             absent   toolset media           no ffmpeg; fix: install media\n\
             Requirements missing: 1. Sessions cannot run.\n"
        );
    }

    #[test]
    fn colours_are_for_terminals() {
        let findings = [Finding::ok("bubblewrap", "0.8.0")];
        let report = |colour| FindingsReport { findings: &findings, colour }.to_string();
        assert!(report(Colour::Yes).contains("\x1b["));
        assert!(!report(Colour::No).contains("\x1b["));
    }
}
