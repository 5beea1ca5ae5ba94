//! Folders of what is kept for owners between sessions.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::fs::{DirEntry, read_dir};

/// The folder of an owner.
pub fn dir_of(dir: &Path, owner: &str) -> PathBuf {
    // Owners are any text; their bytes in hexadecimal are a name of a directory.
    let owner: String = owner.bytes().map(|byte| format!("{byte:02x}")).collect();
    dir.join(format!("o{owner}"))
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
        if !entry.file_name().to_string_lossy().ends_with('~') {
            found.push(entry);
        }
    }
    Ok(found)
}
