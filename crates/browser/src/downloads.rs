//! Files that the browser downloads into the home. Pure: fed by what the browser tells.

use std::path::{Path, PathBuf};

use helmdeck_wire::browser::Downloaded;
use serde::Deserialize;

/// Where they go, from the home on.
pub(crate) const FOLDER: &str = "Downloads";
/// More than this are not remembered.
const MOST: usize = 100;

/// The downloads that no reply has told yet.
pub(crate) struct Downloads {
    home: PathBuf,
    known: Vec<Known>,
}

struct Known {
    guid: String,
    name: String,
    told: Downloaded,
    over: bool,
}

/// A download began.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Begun {
    guid: String,
    suggested_filename: String,
}

/// A download went on.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Progress {
    guid: String,
    state: String,
    #[serde(default)]
    received_bytes: f64,
    #[serde(default)]
    file_path: Option<PathBuf>,
}

impl Downloads {
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), known: Vec::new() }
    }

    pub fn begun(&mut self, begun: Begun) {
        if self.known.len() >= MOST {
            self.known.remove(0);
        }
        let path = format!("{FOLDER}/{}", begun.suggested_filename);
        let told = Downloaded { path, complete: false, size: None };
        let name = begun.suggested_filename;
        self.known.push(Known { guid: begun.guid, name, told, over: false });
    }

    pub fn went_on(&mut self, progress: &Progress) {
        let Some(known) = self.known.iter_mut().find(|known| known.guid == progress.guid) else {
            return;
        };
        known.over = progress.state != "inProgress";
        known.told.complete = progress.state == "completed";
        if known.told.complete {
            // Whole bytes, however large.
            known.told.size = Some(progress.received_bytes as u64);
        }
        let path = progress.file_path.as_deref().filter(|path| !path.as_os_str().is_empty());
        if let Some(path) = path {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            known.told.path = match path.strip_prefix(&self.home) {
                Ok(path) => path.to_string_lossy().into_owned(),
                Err(_) => format!("{FOLDER}/{}", name.unwrap_or_else(|| known.name.clone())),
            };
        }
    }

    /// Whether there are any, and whether all of them are over.
    pub fn any(&self) -> bool {
        !self.known.is_empty()
    }

    pub fn all_over(&self) -> bool {
        self.known.iter().all(|known| known.over)
    }

    /// Takes what is to be told.
    pub fn take(&mut self) -> Vec<Downloaded> {
        self.known.drain(..).map(|known| known.told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_is_told_once_by_its_place_in_the_home() {
        let mut downloads = Downloads::new(Path::new("/home/agent"));
        downloads.begun(Begun { guid: "1".into(), suggested_filename: "a.txt".into() });
        assert!(downloads.any() && !downloads.all_over());
        downloads.went_on(&Progress {
            guid: "1".into(),
            state: "completed".into(),
            received_bytes: 5.0,
            file_path: Some("/home/agent/Downloads/a (1).txt".into()),
        });
        assert!(downloads.all_over());
        let told = Downloaded { path: "Downloads/a (1).txt".into(), complete: true, size: Some(5) };
        assert_eq!(downloads.take(), [told]);
        assert!(!downloads.any());
    }
}
