//! Refuses paths of one machine and hosts of packages.

use super::{Report, Repository};

/// Joins strings from halves, so that this file does not report itself.
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
/// Marks a line that has to contain such a path; the reason follows.
const ALLOW: &str = concat!("tidy:", " allow, ");

pub(super) fn check(repository: &Repository, report: &mut Report) {
    for (path, text) in repository.texts(&[""]) {
        // Cargo writes its source lines.
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

/// Whether the line contains an absolute path into `folder`.
fn starts_in(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || "_-./}~$>)".contains(c))
    })
}
