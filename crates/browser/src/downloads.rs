//! Tracks downloads into the home from browser events. Pure.

use std::{path::PathBuf, sync::Arc};

use helmdeck_wire::browser::Downloaded;
use serde::Deserialize;

use crate::DownloadFiles;

/// The downloads folder, relative to the home.
pub(crate) const FOLDER: &str = "Downloads";
/// Limit on remembered downloads.
const MOST: usize = 100;

/// Downloads whose end no reply has reported yet.
pub(crate) struct Downloads {
    /// `None` if the browser decides where downloads go.
    download_files: Option<Arc<DownloadFiles>>,
    last: Mark,
    known: Vec<Known>,
}

struct Known {
    guid: String,
    name: String,
    mark: Mark,
    told: Downloaded,
    over: bool,
    /// A reply has reported the start.
    mentioned: bool,
}

/// A point in the sequence of downloads.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark(u64);

/// `Browser.downloadWillBegin`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Begun {
    guid: String,
    suggested_filename: String,
}

/// `Browser.downloadProgress`.
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
    pub fn new(download_files: Option<Arc<DownloadFiles>>) -> Self {
        Self { download_files, last: Mark::default(), known: Vec::new() }
    }

    pub fn begun(&mut self, begun: Begun) {
        if self.known.len() >= MOST {
            // A forgotten download that is not complete would keep its number as a name.
            let oldest = self.known.iter().position(|known| known.over);
            self.known.remove(oldest.unwrap_or_default());
        }
        let path = format!("{FOLDER}/{}", begun.suggested_filename);
        let told = Downloaded { path, complete: false, size: None };
        self.last.0 += 1;
        self.known.push(Known {
            guid: begun.guid,
            name: begun.suggested_filename,
            mark: self.last,
            told,
            over: false,
            mentioned: false,
        });
    }

    pub fn went_on(&mut self, progress: &Progress) {
        let Some(known) = self.known.iter_mut().find(|known| known.guid == progress.guid) else {
            return;
        };
        known.over = progress.state != "inProgress";
        known.told.complete = progress.state == "completed";
        if known.told.complete {
            // A whole number of bytes.
            known.told.size = Some(progress.received_bytes as u64);
        }
        let path = progress.file_path.as_ref().filter(|path| !path.as_os_str().is_empty());
        if let Some(path) = path {
            let download_files =
                self.download_files.as_deref().filter(|_| path.ends_with(&known.guid));
            let finished = download_files
                .and_then(|download_files| download_files.finish(&known.guid, &known.name));
            let path = finished.as_ref().unwrap_or(path);
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            let name = name.unwrap_or_else(|| known.name.clone());
            let home = self.download_files.as_deref().map(DownloadFiles::home);
            known.told.path = match home.map(|home| path.strip_prefix(home)) {
                Some(Ok(path)) => path.to_string_lossy().into_owned(),
                Some(Err(_)) => format!("{FOLDER}/{name}"),
                None => name,
            };
        }
    }

    /// The current point.
    pub fn mark(&self) -> Mark {
        self.last
    }

    /// Whether an unreported download began after that point.
    pub fn any_since(&self, mark: Mark) -> bool {
        self.known.iter().any(|known| known.mark > mark && !known.mentioned)
    }

    /// Whether all unreported downloads have ended.
    pub fn all_over(&self) -> bool {
        self.known.iter().all(|known| known.over || known.mentioned)
    }

    /// Takes the downloads to report. Unfinished ones are reported again when they are complete.
    pub fn take(&mut self) -> Vec<Downloaded> {
        let news = self.known.iter().filter(|known| !known.mentioned || known.told.complete);
        let news = news.map(|known| known.told.clone()).collect();
        self.known.retain(|known| !known.over);
        for known in &mut self.known {
            known.mentioned = true;
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> Option<Arc<DownloadFiles>> {
        Some(Arc::new(DownloadFiles::new("/home/agent".into())))
    }

    fn begun(guid: &str) -> Begun {
        Begun { guid: guid.into(), suggested_filename: format!("{guid}.txt") }
    }

    fn ended(guid: &str, state: &str) -> Progress {
        Progress { guid: guid.into(), state: state.into(), received_bytes: 5.0, file_path: None }
    }

    #[test]
    fn an_unfinished_download_is_reported_again_when_it_is_complete() {
        let mut downloads = Downloads::new(home());
        downloads.begun(begun("slow"));
        downloads.begun(begun("stopped"));
        assert_eq!(downloads.take().len(), 2);
        // Unfinished downloads that were reported do not hold up later calls.
        assert!(downloads.all_over());
        assert_eq!(downloads.take(), []);
        downloads.went_on(&ended("slow", "completed"));
        downloads.went_on(&ended("stopped", "canceled"));
        let told = Downloaded { path: "Downloads/slow.txt".into(), complete: true, size: Some(5) };
        assert_eq!(downloads.take(), [told]);
        assert_eq!(downloads.take(), []);
    }

    #[test]
    fn an_earlier_download_does_not_belong_to_a_call() {
        let mut downloads = Downloads::new(home());
        downloads.begun(begun("old"));
        let mark = downloads.mark();
        assert!(!downloads.any_since(mark));
        downloads.begun(begun("new"));
        assert!(downloads.any_since(mark));
    }

    #[test]
    fn a_download_is_reported_once_with_its_path_in_the_home() {
        let mut downloads = Downloads::new(home());
        downloads.begun(Begun { guid: "1".into(), suggested_filename: "a.txt".into() });
        assert!(downloads.any_since(Mark::default()) && !downloads.all_over());
        downloads.went_on(&Progress {
            guid: "1".into(),
            state: "completed".into(),
            received_bytes: 5.0,
            file_path: Some("/home/agent/Downloads/a (1).txt".into()),
        });
        assert!(downloads.all_over());
        let told = Downloaded { path: "Downloads/a (1).txt".into(), complete: true, size: Some(5) };
        assert_eq!(downloads.take(), [told]);
        assert!(!downloads.any_since(Mark::default()));
    }
}
