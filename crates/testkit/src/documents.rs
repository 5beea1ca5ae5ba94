//! The shell blocks of README.md and docs/ that run as pasted.

use std::fs;
use std::path::Path;

/// Pages whose blocks use README's session, in the order in which they run.
const PAGES: [&str; 6] = [
    "docs/desktop.md",
    "docs/exec.md",
    "docs/find.md",
    "docs/browser.md",
    "docs/sessions.md",
    "docs/live-view.md",
];
/// Creates and ends its own session.
const GUIDE: &str = "docs/guide.md";
/// The section of README that installs and starts the program.
const START: &str = "## Start";
/// Fails unless README's click was seen by the page that README opens.
const CLICKED: &str = "helmdeck call browser.wait_for session_id=$SESSION_ID text='Clicked at 376, 369' timeout_s=10\n";
/// Marks a block that needs something that tests do not have.
const MARK: &str = "<!-- not run: ";

/// A block that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellBlock {
    /// The line number of its first command, starting at one.
    pub line: usize,
    /// Its commands, each with a line break.
    pub commands: String,
    /// Whether it installs or starts the program.
    pub is_start: bool,
}

/// The `sh` blocks of a document, without those that are marked as not run.
pub fn shell_blocks(text: &str) -> Vec<ShellBlock> {
    let (mut found, mut section, mut previous) = (Vec::new(), "", "");
    let mut block: Option<ShellBlock> = None;
    for (index, line) in text.lines().enumerate() {
        match block.take() {
            Some(block) if line == "```" => found.push(block),
            Some(mut open) => {
                open.commands.extend([line, "\n"]);
                block = Some(open);
            }
            None if line.starts_with("## ") => section = line,
            None if line == "```sh" && !previous.starts_with(MARK) => {
                block = Some(ShellBlock {
                    line: index + 2,
                    commands: String::new(),
                    is_start: section == START,
                });
            }
            None => {}
        }
        previous = line;
    }
    found
}

/// The documents whose blocks run.
pub fn documents_that_run() -> Vec<&'static str> {
    [&["README.md"], &PAGES[..], &[GUIDE]].concat()
}

/// A script of all blocks after README's start. It runs in an empty folder, with a token in `JWT` and
/// `helmdeck` on the `PATH`.
pub fn walkthrough(root: &Path) -> String {
    let read = |name: &str| {
        let blocks = shell_blocks(&fs::read_to_string(root.join(name)).unwrap());
        let blocks = blocks.into_iter().filter(|block| !block.is_start);
        blocks.map(|block| block.commands).collect::<Vec<_>>()
    };
    let readme = read("README.md");
    // README's blocks about the end of the session come last.
    let end = readme.iter().position(|block| block.contains("-X DELETE")).unwrap();
    let (session, end) = readme.split_at(end);
    let pages = PAGES.into_iter().flat_map(read);
    let blocks = session.iter().cloned().chain([CLICKED.to_owned()]).chain(pages);
    let blocks = blocks.chain(end.iter().cloned()).chain(read(GUIDE));
    let mut script = String::from("set -euo pipefail\n");
    for block in blocks {
        script += &format!("{block}echo '--- done'\n");
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_blocks_and_other_languages_do_not_run() {
        let text = "# T\n\n## Start\n\n```sh\nmake up\n```\n\n## Use\n\n```sh\na\nb\n```\n\n\
            <!-- not run: needs the client -->\n```sh\nno\n```\n\n```bash\nno\n```\n";
        let block = |line, commands: &str, is_start| ShellBlock {
            line,
            commands: commands.to_owned(),
            is_start,
        };
        assert_eq!(shell_blocks(text), [block(6, "make up\n", true), block(12, "a\nb\n", false)]);
    }
}
