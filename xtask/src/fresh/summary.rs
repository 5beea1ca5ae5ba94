//! The results of a run, in a few lines.

use std::time::Duration;

use super::plan::Plan;

/// The result of one step.
#[derive(Debug)]
pub struct Outcome {
    step: &'static str,
    took: Duration,
    /// `None` if a signal ended it.
    pub exit: Option<i32>,
    counts: String,
}

impl Outcome {
    pub fn new(step: &'static str, took: Duration, exit: Option<i32>, counts: String) -> Self {
        Self { step, took, exit, counts }
    }
}

/// One line per step: system, account, step, seconds, counts, exit.
pub fn table(plan: &Plan, outcomes: &[Outcome]) -> String {
    let line = |outcome: &Outcome| {
        let exit = outcome.exit.map_or("killed".to_owned(), |code| format!("exit {code}"));
        format!(
            "fresh: {:<9} {:<5} {:<13} {:>6} s  {exit}{}{}",
            plan.release.name(),
            plan.account(),
            outcome.step,
            outcome.took.as_secs(),
            if outcome.counts.is_empty() { "" } else { "  " },
            outcome.counts,
        )
    };
    outcomes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The test counts in the log of `make test`: of nextest, of the page's tests, and of the tests as
/// an ordinary user.
pub fn counts(log: &str) -> String {
    let mut found = Vec::new();
    for line in log.lines() {
        let line = plain(line);
        // The runner repeats lines of failed tests with an indent; they are already counted.
        let repeated = line.starts_with("    test result: ");
        let line = line.trim();
        if let Some((_, rest)) = line.split_once(" tests run: ") {
            found.push(format!("tests: {rest}"));
        } else if let Some(rest) = line.strip_prefix("test result: ").filter(|_| !repeated) {
            let rest = rest.split("; 0 ignored").next().unwrap_or(rest);
            found.push(format!("as a user: {}", rest.trim_start_matches("ok. ")));
        } else if let Some(rest) =
            line.strip_prefix("# pass ").or_else(|| line.strip_prefix("ℹ pass "))
        {
            found.push(format!("page: {rest} passed"));
        } else if let Some(rest) =
            line.strip_prefix("# fail ").or_else(|| line.strip_prefix("ℹ fail "))
        {
            found.push(format!("page: {rest} failed"));
        }
    }
    found.join("; ")
}

/// Removes colours.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        text += before;
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_cover_every_part() {
        let log = "\u{1b}[32;1m     Summary\u{1b}[0m [ 946.2s] \u{1b}[1m784\u{1b}[0m tests run: \
            774 passed, 10 failed, 3 skipped\n    test result: FAILED. 0 passed; 1 failed\n# pass 61\n# fail 0\n\
            test result: ok. 88 passed; 1 failed; 0 ignored; 0 measured; finished in 3 s\n";
        assert_eq!(
            counts(log),
            "tests: 774 passed, 10 failed, 3 skipped; page: 61 passed; page: 0 failed; \
             as a user: 88 passed; 1 failed"
        );
    }
}
