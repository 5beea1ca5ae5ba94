//! Hands files of the home over to the browser: for an upload, or a page at a `file:` address.
//!
//! The browser does not see the agent's home. A file is handed over by linking it into the folder
//! that the browser sees as the home, under the same path, so that addresses and names stay the
//! same. The guest resolves paths beneath the home, like `files.rs`: no link created by a program
//! can lead the browser to files outside the home.

use std::{
    fs, io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
    time::Duration,
};

use helmdeck_task::block_in_place;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    file::{FileKind, HomePath},
};
use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, OFlags, fstat, linkat},
    io::Errno,
};
use serde_json::Value;
use tokio::time::sleep;

use crate::{
    error::GuestError,
    files,
    nest::{HANDED_OVER, HOME, is_mount, is_shared},
};

/// Limit on files and folders of an upload.
const MAX_UPLOAD: usize = 10_000;
/// Limit on files beside and below a page that are handed over with it.
const MAX_FILES: usize = 1000;
/// Limit on the depth of those files.
const MAX_DEPTH: usize = 8;
/// How often changed or removed files are cleaned up.
const TIDY_PAUSE: Duration = Duration::from_secs(2);
/// Longer messages of the debugging protocol are not searched for an address.
const MAX_MESSAGE: usize = 1 << 20;

/// Opening a pipe without a writer must not block.
const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// Hands one file over.
pub fn file(path: &HomePath) -> Result<(), GuestError> {
    block_in_place(|| link(path.as_str())).map_err(|errno| files::refusal(errno, path))
}

/// Hands over a page with the files beside and below it, if the address is a file in the home.
pub fn page(url: &str) -> Result<(), GuestError> {
    let Some(path) = path_in_home(url) else { return Ok(()) };
    block_in_place(|| {
        let refused = |errno| files::refusal(errno, &path);
        let found = files::open(path.as_str(), LOOK).map_err(refused)?;
        let folder = match FileType::from_raw_mode(fstat(&found).map_err(refused)?.st_mode) {
            FileType::Directory => path.as_str(),
            _ => {
                link(path.as_str()).map_err(refused)?;
                path.split().map_or("", |(folder, _)| folder)
            }
        };
        hand_over_folder(folder);
        Ok(())
    })
}

/// Hands over the page named in a message of the debugging protocol. For other addresses, the
/// browser reports the error.
pub fn page_in(message: &str) {
    if message.len() > MAX_MESSAGE || !message.contains("file:") {
        return;
    }
    let Ok(message) = serde_json::from_str::<Value>(message) else { return };
    if let Some(url) = message.pointer("/params/url").and_then(Value::as_str) {
        let _ = page(url);
    }
}

/// Hands over the files and folders of an upload, given by their paths in the home, with
/// everything in these folders.
pub fn upload<'a>(paths: impl Iterator<Item = &'a str>) -> Result<(), GuestError> {
    let mut all: Vec<String> = paths.map(str::to_owned).collect();
    let mut next = 0;
    block_in_place(|| {
        while let Some(path) = all.get(next) {
            next += 1;
            if all.len() > MAX_UPLOAD {
                let message = format!(
                    "the upload has more than {MAX_UPLOAD} files and folders: use an archive"
                );
                let body = ErrorBody::new(ErrorCode::InvalidInput, message);
                return Err(GuestError::Refused(body));
            }
            let path = HomePath::parse(path)
                .map_err(|why| ErrorBody::new(ErrorCode::InvalidPath, format!("{path}: {why}")))
                .map_err(GuestError::Refused)?;
            let below = one_of_upload(&path).map_err(|errno| files::refusal(errno, &path))?;
            all.extend(below);
        }
        Ok(())
    })
}

/// Hands over a file, or a folder without its content. Returns the paths of the content.
fn one_of_upload(path: &HomePath) -> Result<Vec<String>, Errno> {
    let path = path.as_str();
    let found = files::open(path, LOOK)?;
    if FileType::from_raw_mode(fstat(&found)?.st_mode) != FileType::Directory {
        return link(path).map(|()| Vec::new());
    }
    if is_shared(path) {
        return Ok(Vec::new());
    }
    let errno = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    target_folder(path).map_err(errno)?;
    let mut below = Vec::new();
    for found in Dir::new(found)? {
        let found = found?;
        let name = found.file_name().to_string_lossy();
        let path = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
        match found.file_type() {
            _ if matches!(&*name, "." | "..") || is_mount(&path) => {}
            FileType::RegularFile | FileType::Directory => below.push(path),
            // It may lead out, to a folder or nowhere.
            FileType::Symlink => drop(link(&path)),
            // Pipes and sockets are not files.
            _ => {}
        }
        if below.len() > MAX_UPLOAD {
            break;
        }
    }
    Ok(below)
}

/// Removes the links of files that were removed from the home, for the life of the guest, to free
/// their space. Replaced files are linked again.
pub async fn tidy() {
    loop {
        sleep(TIDY_PAUSE).await;
        block_in_place(|| tidy_folder(Path::new(HANDED_OVER), ""));
    }
}

fn tidy_folder(folder: &Path, inside: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if inside.is_empty() { name } else { format!("{inside}/{name}") };
        let Ok(facts) = entry.metadata() else { continue };
        if facts.is_dir() {
            // Shared folders are mounted over these.
            if !is_mount(&path) {
                tidy_folder(&entry.path(), &path);
                // Succeeds only if it is empty.
                let _ = fs::remove_dir(entry.path());
            }
        } else if facts.nlink() == 1 {
            let _ = fs::remove_file(entry.path());
            let _ = link(&path);
        }
    }
}

/// Links the files of a folder and its subfolders, nearest first. Hidden files are skipped.
fn hand_over_folder(folder: &str) {
    let mut folders = vec![folder.to_owned()];
    let mut left = MAX_FILES;
    for _ in 0..MAX_DEPTH {
        let mut below = Vec::new();
        for folder in folders {
            let Ok(path) = HomePath::parse(&folder) else { continue };
            let Ok(list) = files::list(&path) else { continue };
            let _ = target_folder(&folder);
            for entry in list.entries.iter().filter(|entry| !entry.name.starts_with('.')) {
                let path = match folder.as_str() {
                    "" => entry.name.clone(),
                    folder => format!("{folder}/{}", entry.name),
                };
                if left == 0 {
                    return;
                }
                left -= 1;
                match entry.kind {
                    FileKind::Directory => below.push(path),
                    _ => {
                        let _ = link(&path);
                    }
                }
            }
        }
        folders = below;
    }
}

/// Links one file of the home to where the browser sees it.
fn link(path: &str) -> Result<(), Errno> {
    if is_shared(path) {
        // The browser sees shared folders anyway, and follows no links there.
        return files::open(path, LOOK | OFlags::NOFOLLOW).map(|_| ());
    }
    let file = files::open(path, LOOK)?;
    let facts = fstat(&file)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Err(Errno::ISDIR);
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let errno = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let target = target_folder(folder).map_err(errno)?.join(name);
    match fs::symlink_metadata(&target) {
        Ok(there) if (there.dev(), there.ino()) == (facts.st_dev, facts.st_ino) => return Ok(()),
        Ok(there) if there.is_dir() => fs::remove_dir_all(&target).map_err(errno)?,
        Ok(_) => fs::remove_file(&target).map_err(errno)?,
        Err(_) => {}
    }
    link_opened(&file, &target)
}

/// Links by descriptor, so that it is the checked file.
fn link_opened(file: &OwnedFd, target: &Path) -> Result<(), Errno> {
    let opened = format!("/proc/self/fd/{}", file.as_raw_fd());
    linkat(CWD, opened, CWD, target, AtFlags::SYMLINK_FOLLOW)
}

/// The browser's counterpart of a folder of the home; created if necessary.
fn target_folder(folder: &str) -> io::Result<PathBuf> {
    let mut target = PathBuf::from(HANDED_OVER);
    for name in folder.split('/').filter(|name| !name.is_empty()) {
        target.push(name);
        match fs::symlink_metadata(&target) {
            Ok(there) if there.is_dir() => {}
            Ok(_) => {
                fs::remove_file(&target)?;
                fs::create_dir(&target)?;
            }
            Err(_) => fs::create_dir(&target)?,
        }
    }
    Ok(target)
}

/// The path of a `file:` address relative to the home, outside the shared folders.
fn path_in_home(url: &str) -> Option<HomePath> {
    let (scheme, rest) = url.trim().split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    let path = decoded(path)?;
    let inside = path.strip_prefix(HOME).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    let path = HomePath::parse(inside.strip_prefix('/').unwrap_or(inside)).ok()?;
    (!is_shared(path.as_str())).then_some(path)
}

/// Decodes percent escapes; `None` if the result is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                let value = digit(high)? * 16 + digit(low)?;
                bytes.push(u8::try_from(value).ok()?);
                rest = tail;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_above_its_limit_is_refused_with_the_limit() {
        let refused = upload(vec!["a"; MAX_UPLOAD + 1].into_iter()).unwrap_err();
        assert!(refused.to_string().contains("10000"), "{refused}");
    }

    #[test]
    fn file_addresses_in_the_home_map_to_paths() {
        for (url, path) in [
            ("file:///home/agent/a.html", "a.html"),
            ("FILE:///home/agent/a%20b/c.html?x#y", "a b/c.html"),
            ("file://localhost/home/agent/", ""),
            ("file:/home/agent/x", "x"),
        ] {
            assert_eq!(path_in_home(url).expect(url).as_str(), path);
        }
        for other in [
            "https://example.com/home/agent/x",
            "file:///home/agentx/a",
            "file:///home/agent/../browser/x",
            "file:///home/agent/%2e%2e/browser/x",
            "file:///home/agent/Downloads/x",
            "file:///etc/hosts",
            "about:blank",
            "file:///home/agent/%zz",
        ] {
            assert_eq!(path_in_home(other), None, "{other}");
        }
    }
}
