//! Every program that a script, a test, the product or a shell block of the documentation starts belongs
//! to a package in `scripts/packages.sh`, of a group that is installed where it runs.
//!
//! A test that needs a program its author installed by hand fails on a fresh machine. This check
//! finds programs by how they are named in the source; `cargo xtask fresh` finds the rest.

mod literal;
mod shell;

use std::collections::BTreeSet;

use helmdeck_testkit::{documents_that_run, shell_blocks};

use super::{Report, Repository};

const LIST: &str = "scripts/packages.sh";

/// Installed where the product runs, with the toolsets of packs and what builds it.
const PRODUCT: [&str; 5] = ["runtime", "build", "web", "documents", "media"];
/// Installed by `make test`.
const TESTS: [&str; 6] = ["runtime", "build", "web", "documents", "media", "test"];
/// Installed by `make up`, after which the documentation's commands run.
const DOCUMENTS: [&str; 2] = ["runtime", "build"];
/// Installed for commands of the maintainers.
const ALL: [&str; 8] = ["runtime", "build", "web", "documents", "media", "test", "fresh", "corpus"];

/// Packages whose programs have other names, with the programs we use.
const PACKAGES: [(&str, &[&str]); 22] = [
    ("at-spi2-core", &["at-spi-bus-launcher"]),
    ("bubblewrap", &["bwrap"]),
    ("build-essential", &["cc", "gcc", "make"]),
    ("ca-certificates", &["update-ca-certificates"]),
    ("dbus-daemon", &["dbus-daemon", "dbus-run-session"]),
    ("ffmpeg", &["ffmpeg", "ffprobe"]),
    ("fontconfig", &["fc-list"]),
    ("imagemagick", &["compare", "convert", "import"]),
    ("libreoffice-writer", &["soffice"]),
    ("nginx-light", &["nginx"]),
    ("openssh-client", &["ssh", "ssh-keygen"]),
    ("openssh-server", &["sshd"]),
    ("poppler-utils", &["pdfinfo", "pdftohtml", "pdftoppm"]),
    ("procps", &["pgrep", "ps"]),
    ("python3-pip", &["pip", "python3"]),
    ("python3-venv", &["python3"]),
    ("tesseract-ocr", &["tesseract"]),
    ("tigervnc-scraping-server", &["X0tigervnc"]),
    ("tigervnc-standalone-server", &["Xtigervnc", "tigervncconfig"]),
    ("tigervnc-viewer", &["xtigervncviewer"]),
    ("universal-ctags", &["ctags"]),
    ("x11-xkb-utils", &["xkbcomp"]),
];

/// Programs of every Debian system: those of packages with priority "required", and apt.
#[rustfmt::skip]
const REQUIRED: [&str; 80] = [
    "apt-get", "awk", "basename", "bash", "cat", "chmod", "chown", "chroot", "cmp", "cp", "cut", "date", "dd",
    "df", "dirname", "dpkg-query", "du", "echo", "env", "find", "flock", "getent", "grep", "groupdel", "gzip",
    "head", "hostname", "id", "install", "kill", "ln", "ls", "mkdir", "mkfifo", "mktemp", "mount",
    "mountpoint", "mv", "nohup", "nproc", "nsenter", "od", "perl", "pivot_root", "prlimit", "pwd", "readlink", "realpath",
    "rm", "rmdir", "sed", "seq", "setpriv", "setsid", "sh", "sha256sum", "sleep", "sort", "split",
    "stat", "stty", "su", "tail", "tar", "tee", "test", "timeout", "touch", "tr", "truncate", "true",
    "umount", "uname", "uniq", "unshare", "useradd", "userdel", "wc", "whoami", "xargs",
];

/// The toolchain that README requires, what `cargo xtask clients` installs itself, our own binary
/// under its names, programs of people whose scripts are ours, and names of missing programs in tests.
const OURS: [&str; 18] = [
    "cargo",
    "cargo-nextest",
    "chromium-browser",
    // What `helmdeck connect claude-code` calls on the client's machine.
    "claude",
    // What people run OpenClaw in, and OpenClaw itself: `scripts/configure-openclaw.sh`.
    "docker",
    "google-chrome",
    "helmdeck",
    "no-such",
    "no-such-program",
    // `scripts/web.sh` fetches them if they are missing.
    "node",
    "npm",
    "openapi-ts",
    "openclaw",
    "redocly",
    "rustc",
    "rustup",
    "sudo",
    // Opens pages on a person's machine, if installed: `helmdeck session open`.
    "xdg-open",
];

/// Those of them that a reader of the documentation has.
const READERS: [&str; 3] = ["helmdeck", "rustup", "sudo"];

pub(super) fn check(repository: &Repository, report: &mut Report) {
    let list = repository.text(LIST).unwrap_or_default();
    let listed = packages(&list);
    let scripts: Vec<_> = repository.texts(&[".sh"]).collect();
    let documents: Vec<_> = documents_that_run()
        .into_iter()
        .filter_map(|path| Some((path, shell_blocks(&repository.text(path)?))))
        .collect();
    let texts = scripts.iter().map(|(_, text)| text);
    let blocks = documents.iter().flat_map(|(_, blocks)| blocks).map(|block| &block.commands);
    let functions: BTreeSet<String> =
        texts.chain(blocks).flat_map(|text| shell::functions(text)).collect();
    let mut judge = |path: &str, line: usize, word: &str, groups: &[&str]| {
        let Some(program) = program(word) else { return };
        let packages = listed.iter().filter(|(group, _)| groups.contains(group));
        let packages: BTreeSet<&str> = packages.map(|(_, package)| *package).collect();
        let ours: &[&str] = if groups == DOCUMENTS { &READERS } else { &OURS };
        if functions.contains(program) || ours.contains(&program) || comes_with(program, &packages)
        {
            return;
        }
        report.refuse(
            path,
            line,
            format!(
                "`{program}` is started, but no package of {LIST} has it in the groups {}",
                groups.join(", ")
            ),
            format!(
                "add its package to {LIST}; if the two names differ, or it is on every Debian \
                 system, also to the lists in xtask/src/tidy/programs.rs"
            ),
        );
    };
    for (path, text) in &scripts {
        for (line, word) in shell::commands(text) {
            judge(path, line, &word, groups(path));
        }
    }
    for (path, blocks) in &documents {
        for block in blocks {
            for (line, word) in shell::commands(&block.commands) {
                judge(path, block.line + line - 1, &word, &DOCUMENTS);
            }
        }
    }
    for (path, text) in repository.texts(&[".rs", ".mjs", ".ts", ".py"]) {
        // The first contains examples; the second uses programs that people install for benchmarks.
        if path.starts_with("xtask/src/tidy") || path.starts_with("web/bench/") {
            continue;
        }
        let tests_from = text.lines().position(|line| line.trim() == "#[cfg(test)]");
        for (line, word) in literal::started(&text) {
            let in_tests = tests_from.is_some_and(|first| line > first);
            judge(path, line, &word, if in_tests { &TESTS } else { groups(path) });
        }
    }
}

/// The groups of packages that are installed where a file runs.
fn groups(path: &str) -> &'static [&'static str] {
    let is_product = path.starts_with("crates/")
        && path.contains("/src/")
        && !path.starts_with("crates/testkit/")
        && !path.ends_with("/tests.rs")
        && !path.contains("/tests/");
    if path.starts_with("xtask/") {
        &ALL
    } else if is_product || path == "scripts/server.sh" {
        &PRODUCT
    } else if path.starts_with("scripts/") {
        // Every command of the repository, those of the maintainers included.
        &ALL
    } else {
        &TESTS
    }
}

/// The groups and names in the list, whose lines are a group, a package and a reason.
fn packages(text: &str) -> BTreeSet<(&str, &str)> {
    let lines = text.lines().skip_while(|line| !line.ends_with("<<'PACKAGES'")).skip(1);
    let lines = lines.take_while(|line| *line != "PACKAGES");
    let words = lines.map(str::split_whitespace);
    words.filter_map(|mut words| Some((words.next()?, words.next()?))).collect()
}

fn comes_with(program: &str, listed: &BTreeSet<&str>) -> bool {
    let packaged = |(package, programs): &(&str, &[&str])| {
        programs.contains(&program) && listed.contains(package)
    };
    listed.contains(program) || REQUIRED.contains(&program) || PACKAGES.iter().any(packaged)
}

/// The program that a word names; `None` if it is not a plain name, or is a path of ours.
fn program(word: &str) -> Option<&str> {
    const FOLDERS: [&str; 6] =
        ["/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/", "/usr/libexec/", "/usr/local/bin/"];
    let name = FOLDERS.iter().find_map(|folder| word.strip_prefix(folder)).unwrap_or(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    (starts_well && name.chars().all(plain) && !name.contains("..")).then_some(name)
}
