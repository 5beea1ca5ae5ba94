//! The home of a fake guest, in memory.

use std::{collections::BTreeMap, time::UNIX_EPOCH};

use bytes::Bytes;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    file::{FileEntry, FileKind, FileList, FileStored, HomePath},
    guest::OneFile,
};

/// Files by path. A folder exists as long as it has content.
#[derive(Default)]
pub struct Home {
    files: BTreeMap<String, Stored>,
}

struct Stored {
    file: OneFile,
    content: Bytes,
}

impl Home {
    /// Lists a folder.
    pub fn list(&self, path: &HomePath) -> Result<FileList, ErrorBody> {
        let within = folder(path);
        let mut entries = BTreeMap::new();
        for (name, stored) in &self.files {
            let Some(rest) = name.strip_prefix(&within) else { continue };
            let (name, kind, size) = match rest.split_once('/') {
                Some((name, _)) => (name, FileKind::Directory, 0),
                None => (rest, FileKind::File, stored.content.len() as u64),
            };
            let modified_at = stored.file.modified_at.unwrap_or_else(|| UNIX_EPOCH.into());
            let entry = FileEntry { name: name.to_owned(), kind, size, modified_at };
            entries.insert((kind, name.to_owned()), entry);
        }
        match (entries.is_empty(), self.files.contains_key(path.as_str())) {
            (_, true) => Err(refusal(ErrorCode::NotAFile, path, "not a folder")),
            (true, false) if !path.as_str().is_empty() => {
                Err(refusal(ErrorCode::FileNotFound, path, "does not exist in the session"))
            }
            _ => {
                let entries = entries.into_values().collect();
                Ok(FileList { path: path.to_string(), entries, truncated: false })
            }
        }
    }

    /// Reads a file.
    pub fn read(&self, path: &HomePath) -> Result<Bytes, ErrorBody> {
        let is_folder = || self.files.keys().any(|name| name.starts_with(&folder(path)));
        match self.files.get(path.as_str()) {
            Some(stored) => Ok(stored.content.clone()),
            None if is_folder() => Err(refusal(ErrorCode::NotAFile, path, "is not a file")),
            None => Err(refusal(ErrorCode::FileNotFound, path, "does not exist in the session")),
        }
    }

    /// Writes a file.
    pub fn write(&mut self, file: &OneFile, content: Bytes) -> Result<FileStored, ErrorBody> {
        let path = &file.path;
        if !file.replace && self.files.contains_key(path.as_str()) {
            return Err(refusal(ErrorCode::FileExists, path, "exists already"));
        }
        if path.as_str().is_empty() || self.files.keys().any(|it| it.starts_with(&folder(path))) {
            return Err(refusal(ErrorCode::NotAFile, path, "is not a file"));
        }
        let size = content.len() as u64;
        self.files.insert(path.to_string(), Stored { file: file.clone(), content });
        Ok(FileStored { path: path.to_string(), size })
    }
}

/// The path prefix of all files in a folder.
fn folder(path: &HomePath) -> String {
    if path.as_str().is_empty() { String::new() } else { format!("{path}/") }
}

fn refusal(code: ErrorCode, path: &HomePath, why: &str) -> ErrorBody {
    ErrorBody::new(code, format!("{path} {why}"))
}
