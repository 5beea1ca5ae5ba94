//! Files in a session's home.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use time::OffsetDateTime;

/// A path in the session's home: segments separated by `/`. No segment is empty, `.` or `..`. The
/// empty path is the home itself.
///
/// Symbolic links are not resolved here. The code that opens the path must not follow them outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct HomePath(String);

impl HomePath {
    /// Maximum length of a path.
    const MAX_BYTES: usize = 4000;
    /// Maximum length of a file name.
    const MAX_NAME: usize = 255;

    /// Parses a path from a client. The error explains what is wrong.
    pub fn parse(path: &str) -> Result<Self, String> {
        if path.starts_with('/') {
            return Err(
                "paths are relative to the session's home: remove the leading `/`".to_owned()
            );
        }
        let trimmed = path.strip_suffix('/').unwrap_or(path);
        if trimmed.is_empty() {
            return Ok(Self::default());
        }
        if trimmed.len() > Self::MAX_BYTES {
            return Err(format!("a path can have at most {} bytes", Self::MAX_BYTES));
        }
        for segment in trimmed.split('/') {
            match segment {
                "" | "." | ".." => return Err(format!("{segment:?} is not a valid file name")),
                long if long.len() > Self::MAX_NAME => {
                    return Err(format!("a name can have at most {} bytes", Self::MAX_NAME));
                }
                named if named.contains('\0') => return Err("a name cannot contain NUL".to_owned()),
                _ => {}
            }
        }
        Ok(Self(trimmed.to_owned()))
    }

    /// The path as text; empty for the home itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder and the name in it. `None` for the home itself.
    pub fn split(&self) -> Option<(&str, &str)> {
        if self.0.is_empty() {
            return None;
        }
        Some(self.0.rsplit_once('/').unwrap_or(("", &self.0)))
    }
}

impl fmt::Display for HomePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for HomePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Content of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileList {
    /// The folder, relative to the home; empty for the home itself.
    pub path: String,
    /// Entries: folders first, then by name.
    pub entries: Vec<FileEntry>,
    /// Whether the folder has more entries than listed.
    pub truncated: bool,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileEntry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Size in bytes, if it is a file.
    pub size: u64,
    /// Time of the last change.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub modified_at: OffsetDateTime,
}

/// Kind of a folder entry.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A folder.
    Directory,
    /// A file.
    File,
    /// A symbolic link, whatever its target.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// A file that was stored in the home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileStored {
    /// Path of the file, relative to the home.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_home() {
        for bad in
            ["/etc/passwd", "..", "a/../b", "a//b", "./a", "a/.", "a\0b", "//", &"x".repeat(256)]
        {
            assert!(HomePath::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_folder_may_end_with_a_slash() {
        assert_eq!(HomePath::parse("Downloads/").unwrap().as_str(), "Downloads");
        assert_eq!(HomePath::parse("").unwrap(), HomePath::default());
    }

    #[test]
    fn a_path_is_a_folder_and_a_name() {
        assert_eq!(HomePath::parse("a/b/c d.txt").unwrap().split(), Some(("a/b", "c d.txt")));
        assert_eq!(HomePath::parse("a").unwrap().split(), Some(("", "a")));
        assert_eq!(HomePath::default().split(), None);
    }
}
