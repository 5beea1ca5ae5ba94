//! Measured figures in README's section "Speed" and in the text of `docs/benchmarks.md` occur in that page's
//! tables, which the benchmarks print.
//!
//! A figure is a ratio (`2.9×`) or a time (`1.01 ms`). Whole milliseconds in the text of the page may be
//! settings, such as a pause, and are not checked.

use std::collections::BTreeSet;

use super::{Report, Repository};

const PAGE: &str = "docs/benchmarks.md";
const README: &str = "README.md";
const SECTION: &str = "## Speed";

pub(super) fn check(repository: &Repository, report: &mut Report) {
    let Some(page) = repository.text(PAGE) else { return };
    let tables = page.lines().filter(|line| is_row(line));
    let measured: BTreeSet<&str> = tables.flat_map(numbers).map(|(number, _)| number).collect();
    let mut judge = |path: &str, at: usize, line: &str, whole: bool| {
        for (number, unit) in numbers(line) {
            let is_figure = unit == "×" || unit == " ms" && (whole || number.contains('.'));
            if is_figure && !measured.contains(number) {
                report.refuse(
                    path,
                    at + 1,
                    format!("no table of {PAGE} has the figure {number}{unit}"),
                    "state what the tables state; `make bench` and the commands of the page measure again",
                );
            }
        }
    };
    for (at, line) in page.lines().enumerate().filter(|(_, line)| !is_row(line)) {
        judge(PAGE, at, line, false);
    }
    let readme = repository.text(README).unwrap_or_default();
    let mut section = "";
    for (at, line) in readme.lines().enumerate() {
        if line.starts_with("## ") {
            section = line;
        } else if section == SECTION {
            judge(README, at, line, true);
        }
    }
}

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

/// The numbers of a line, each with its unit if that is `×` or ` ms`. Sizes such as 1920×1080 are left out.
fn numbers(line: &str) -> Vec<(&str, &'static str)> {
    let mut found = Vec::new();
    let mut rest = line;
    let mut after_times = false;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        after_times = after_times && before.is_empty();
        let length = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let (number, after) = number.split_at(length);
        let unit =
            ["×", " ms"].into_iter().find(|unit| after.starts_with(unit)).unwrap_or_default();
        let after = after.strip_prefix(unit).unwrap_or(after);
        let is_size = after_times || unit == "×" && after.starts_with(|c: char| c.is_ascii_digit());
        after_times = unit == "×";
        if !is_size {
            found.push((number.trim_end_matches('.'), unit));
        }
        rest = after;
    }
    found
}
