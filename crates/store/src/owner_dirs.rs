//! Folders of what is kept for owners between sessions.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::fs::{DirBuilder, DirEntry, read_dir, remove_file};
use tracing::{info, warn};

/// The folder of an owner.
pub fn dir_of(dir: &Path, owner: &str) -> PathBuf {
    // Owners are any text; their bytes in hexadecimal are a name of a directory.
    let owner: String = owner.bytes().map(|byte| format!("{byte:02x}")).collect();
    dir.join(format!("o{owner}"))
}

/// Makes the folder of an owner, for nobody else to read.
pub async fn create(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).await
}

/// Removes a file. One that does not exist is removed already.
pub async fn remove(path: &Path) -> io::Result<()> {
    match remove_file(path).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes what a server that crashed was writing, of all owners. Nobody may be writing.
pub async fn sweep(dir: &Path) {
    if let Err(error) = try_sweep(dir).await {
        warn!(dir = %dir.display(), %error, "Unfinished files could not be cleared away");
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
                info!(file = %file.path().display(), "Clearing away an unfinished file");
                remove_file(file.path()).await?;
            }
        }
    }
    Ok(())
}

fn is_unfinished(file: &DirEntry) -> bool {
    file.file_name().to_string_lossy().ends_with('~')
}

/// What is in an owner's folder; what is being written, with `~` at its end, is not there yet.
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
    async fn what_was_not_finished_is_swept_and_the_rest_stays() {
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
