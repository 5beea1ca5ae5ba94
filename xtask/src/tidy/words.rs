//! Nothing names the machine it was written on, or the host a package came from.

use super::{Report, Repository};

/// Puts a list of strings together from halves, so that this file does not report itself.
macro_rules! halves {
    ($($left:literal $right:literal),+ $(,)?) => { [$(concat!($left, $right)),+] };
}

const FOLDERS: [&str; 2] = halves!["/wo" "rk/", "/ro" "ot/"];
const HOSTS: [&str; 10] = halves![
    "crates" ".io",
    "npm" "js.org",
    "npm" "js.com",
    "pypi" ".org",
    "python" "hosted.org",
    "deb.debian" ".org",
    "security.debian" ".org",
    "archive.ubuntu" ".com",
    "security.ubuntu" ".com",
    "proxy.golang" ".org",
];
/// Written behind a line that has to name such a path, with the reason after it.
const ALLOW: &str = concat!("tidy:", " allow, ");

pub(super) fn check(repository: &Repository, report: &mut Report) {
    for (path, text) in repository.texts(&[""]) {
        // Its source lines are written by cargo.
        if path == "Cargo.lock" {
            continue;
        }
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.contains(ALLOW)) {
            for folder in FOLDERS.iter().filter(|folder| starts_in(line, folder)) {
                report.refuse(
                    path,
                    index + 1,
                    format!("the absolute path {folder} exists on one machine only"),
                    format!(
                        "use a relative path or configuration; where the path is the point, end \
                         the line with `{ALLOW}<reason>` in a comment"
                    ),
                );
            }
            for host in HOSTS.iter().filter(|host| line.contains(**host)) {
                report.refuse(
                    path,
                    index + 1,
                    format!("names the package host {host}"),
                    "name the package only; the reader's own tools know where to fetch it",
                );
            }
        }
    }
}

/// Whether an absolute path into `folder` stands in the line.
fn starts_in(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || "_-./}~$>)".contains(c))
    })
}
