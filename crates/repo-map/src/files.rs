//! The source files of a repository.

use std::{
    fs::File,
    io::Read,
    os::unix::fs::OpenOptionsExt,
    path::{Component, Path},
    process::{Command, Stdio},
};

use glob::{MatchOptions, Pattern};

use crate::{Language, MapError, Options, language};

/// Larger files are generated.
const MAX_FILE: usize = 512 << 10;
/// Most bytes that are read altogether.
pub const MAX_TOTAL: usize = 64 << 20;
/// Most files that are read.
const MAX_FILES: usize = 20_000;
/// Longer lines on average mean that a file is minified.
const MAX_LINE: usize = 400;
/// Folders of code that others wrote, or that programs wrote.
const FOREIGN: [&str; 8] =
    ["vendor", "node_modules", "third_party", "dist", "build", "target", ".venv", "__pycache__"];

const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Files that match the options, with their languages.
pub fn wanted(
    root: &Path,
    options: &Options,
) -> Result<Vec<(String, &'static Language)>, MapError> {
    for name in &options.languages {
        if language::by_name(name).is_none() {
            let known: Vec<_> = language::languages().map(|language| language.name).collect();
            return Err(MapError::Language(name.clone(), known.join(", ")));
        }
    }
    let languages: Vec<_> =
        options.languages.iter().filter_map(|name| language::by_name(name)).collect();
    let globs =
        options.include_globs.iter().map(|text| Pattern::new(text.trim_start_matches("./")));
    let globs: Vec<_> = globs.collect::<Result<_, _>>()?;
    let matches = |path: &str| {
        globs.is_empty()
            || globs.iter().any(|glob| {
                // As in `.gitignore`: without a slash it means the name.
                let name = path.rsplit('/').next().unwrap_or(path);
                let part = if glob.as_str().contains('/') { path } else { name };
                glob.matches_with(part, MATCHING)
            })
    };
    let known = |path: String| language::by_path(&path).map(|language| (path, language));
    let is_wanted = |(path, language): &(String, &'static Language)| {
        matches(path)
            && (languages.is_empty() || languages.iter().any(|it| it.name == language.name))
            && (!globs.is_empty() || !is_foreign(path))
    };
    Ok(listed(root)?.into_iter().filter_map(known).filter(is_wanted).take(MAX_FILES).collect())
}

/// Files that git knows or does not ignore.
fn listed(root: &Path) -> Result<Vec<String>, MapError> {
    let listing = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard", "--deduplicate"])
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| MapError::Git(error.to_string()))?;
    if !listing.status.success() {
        return Err(MapError::Git(String::from_utf8_lossy(&listing.stderr).trim().to_owned()));
    }
    let names = listing.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let mut names: Vec<_> =
        names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect();
    names.sort();
    Ok(names)
}

fn is_foreign(path: &str) -> bool {
    let mut folders = path.split('/');
    folders.next_back();
    folders.any(|folder| FOREIGN.contains(&folder)) || path.contains(".min.")
}

/// The content of a file; `None` if it is too large, not a plain file, or no source.
pub fn source(root: &Path, path: &str, room: usize) -> Option<Vec<u8>> {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(path).components().all(inside) {
        return None;
    }
    // A link could lead anywhere, and a pipe would never end.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let opened = File::options().read(true).custom_flags(flags).open(root.join(path));
    let file = opened.ok()?;
    let size = file.metadata().ok().filter(|it| it.is_file())?.len();
    let limit = MAX_FILE.min(room);
    if size > limit as u64 {
        return None;
    }
    let mut content = Vec::with_capacity(size as usize);
    file.take(limit as u64 + 1).read_to_end(&mut content).ok()?;
    let lines = content.iter().filter(|byte| **byte == b'\n').count() + 1;
    let is_source = content.len() <= limit && !content.contains(&0);
    (is_source && content.len() / lines <= MAX_LINE).then_some(content)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_pipes_large_and_minified_files_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| std::fs::write(dir.path().join(name), content);
        write("a.rs", b"fn a() {}\n").unwrap();
        write("long.js", "x".repeat(1000).as_bytes()).unwrap();
        write("large.rs", &b"fn x() {}\n".repeat(60_000)).unwrap();
        write("binary.c", b"int a;\0").unwrap();
        symlink("/etc/passwd", dir.path().join("link.rs")).unwrap();
        let read = |name: &str| source(dir.path(), name, MAX_TOTAL);
        assert_eq!(read("a.rs").unwrap(), b"fn a() {}\n");
        for other in ["long.js", "large.rs", "binary.c", "link.rs", "../a.rs", "/etc/passwd", "no"]
        {
            assert!(read(other).is_none(), "{other}");
        }
        assert!(source(dir.path(), "a.rs", 3).is_none(), "no room is left");
    }

    #[test]
    fn code_of_others_is_left_out() {
        for foreign in ["vendor/a.go", "web/node_modules/x/i.js", "a.min.js"] {
            assert!(is_foreign(foreign), "{foreign}");
        }
        assert!(!is_foreign("src/build.rs") && !is_foreign("vendor.go"));
    }
}
