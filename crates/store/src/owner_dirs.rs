//! Directories for the stored files of owners.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::fs::{DirBuilder, DirEntry, read_dir, remove_file};
use tracing::{info, warn};

/// The directory of an owner.
pub fn dir_of(dir: &Path, owner: &str) -> PathBuf {
    // An owner can be any text. Its bytes in hexadecimal are a valid directory name.
    let owner: String = owner.bytes().map(|byte| format!("{byte:02x}")).collect();
    dir.join(format!("o{owner}"))
}

/// Creates an owner's directory, with private permissions.
pub async fn create(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).await
}

/// Removes a file. Does nothing if it does not exist.
pub async fn remove(path: &Path) -> io::Result<()> {
    match remove_file(path).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes unfinished files of a crashed server, for all owners. Must not run during writes.
pub async fn sweep(dir: &Path) {
    if let Err(error) = try_sweep(dir).await {
        warn!(dir = %dir.display(), %error, "Failed to remove unfinished files");
    }
}

async fn try_sweep(dir: &Path) -> io::Result<()> {
    for owner in entries(dir).await? {
        if !owner.file_type().await?.is_dir() {
            continue;
        }
        let mut files = read_dir(owner.path()).await?;
        while let Some(file) = files.next_entry().await? {
            if is_unfinished(&file) {
                info!(file = %file.path().display(), "Removing an unfinished file");
                remove_file(file.path()).await?;
            }
        }
    }
    Ok(())
}

fn is_unfinished(file: &DirEntry) -> bool {
    file.file_name().to_string_lossy().ends_with('~')
}

/// Entries of an owner's directory, without unfinished files, whose names end with `~`.
pub async fn entries(dir: &Path) -> io::Result<Vec<DirEntry>> {
    let mut found = Vec::new();
    let mut entries = match read_dir(dir).await {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(error),
    };
    while let Some(entry) = entries.next_entry().await? {
        if !is_unfinished(&entry) {
            found.push(entry);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_unfinished_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir_of(dir.path(), "ann");
        std::fs::create_dir(&own).unwrap();
        for name in ["kept", "a.3.upload~", "a.new~"] {
            std::fs::write(own.join(name), "x").unwrap();
        }
        std::fs::write(dir.path().join("else~"), "x").unwrap();
        sweep(dir.path()).await;
        sweep(&dir.path().join("none")).await;
        let left = std::fs::read_dir(&own).unwrap().map(|file| file.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["kept"]);
    }
}
