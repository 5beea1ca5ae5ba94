//! Limits the length of files, without tests at their end, and requires a header comment.

use super::{Report, Repository};

const SOFT: usize = 400;
const HARD: usize = 800;
const SPLIT: &str = "split it by noun, not by layer";

pub(super) fn check(repository: &Repository, report: &mut Report) {
    for (path, text) in repository.texts(&[".rs", ".ts", ".tsx"]) {
        // Generated from the OpenAPI document.
        if path.ends_with("schema.d.ts") {
            continue;
        }
        let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count();
        if lines > HARD {
            report.refuse(path, HARD + 1, format!("{lines} lines; {HARD} is the limit"), SPLIT);
        } else if lines > SOFT {
            report.warn(path, SOFT + 1, format!("{lines} lines, more than {SOFT}"), SPLIT);
        }
        if path.ends_with(".rs") && !text.starts_with("//!") {
            report.refuse(
                path,
                1,
                "no `//!` header",
                "begin the file with one or two sentences: what lives here and what does not",
            );
        }
    }
}
