//! Tracks a client's download settings and files. Pure.

use std::{
    collections::{HashMap, HashSet},
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

/// Maximum number of simultaneous downloads. More stay in the session.
const MOST_AT_ONCE: usize = 1000;
/// Longer messages contain neither a folder nor a download.
const MAX_READ: usize = 1 << 20;

/// The downloads of one client.
#[derive(Default)]
pub struct Transfers {
    wanted: Option<Wanted>,
    /// File names suggested by pages, by download id.
    begun: HashMap<String, String>,
}

/// Where the client wants downloads.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    folder: PathBuf,
    by_number: bool,
}

/// A download that is complete in the session, and its destination.
#[derive(Debug, PartialEq)]
pub struct Arrived {
    /// The event to send once the file is local.
    pub event: Value,
    /// Path in the session, relative to the home.
    pub from: String,
    /// Local folder, and the name in it.
    pub folder: PathBuf,
    pub name: String,
    /// Whether to find another name if the file exists.
    pub unique: bool,
}

/// An upload with file paths.
#[derive(Debug, PartialEq)]
pub struct Upload {
    /// The command to send once the files are in the session.
    pub message: Value,
    /// Local paths.
    pub paths: Vec<PathBuf>,
}

impl Transfers {
    /// Inspects a client's message. An upload is delayed until its files are in the session.
    pub fn up(&mut self, text: &str) -> Option<Upload> {
        let about_files = text.contains("setDownloadBehavior") || text.contains("\"files\"");
        if text.len() > MAX_READ || !about_files {
            return None;
        }
        let message: Value = serde_json::from_str(text).ok()?;
        match message.get("method")?.as_str()? {
            "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => {
                self.wanted = wanted(message.get("params")?);
                None
            }
            "DOM.setFileInputFiles" | "Input.dispatchDragEvent" => {
                let paths: Vec<_> = named(&message)?
                    .iter()
                    .filter_map(|path| path.as_str().map(PathBuf::from))
                    .filter(|path| path.is_absolute() && path.exists())
                    .collect();
                (!paths.is_empty()).then_some(Upload { message, paths })
            }
            _ => None,
        }
    }

    /// Inspects a browser's message. The end of a download is delayed until the file is local. The
    /// message may come from a hostile program in the session, so nothing in it may lead out of the
    /// client's folder.
    pub fn down(&mut self, text: &str) -> Option<Arrived> {
        if text.len() > MAX_READ || !text.contains("\"Browser.download") {
            return None;
        }
        let mut event: Value = serde_json::from_str(text).ok()?;
        let params = event.get("params")?;
        let guid = params.get("guid")?.as_str().filter(|guid| is_number(guid))?.to_owned();
        match event.get("method")?.as_str()? {
            "Browser.downloadWillBegin" if self.begun.len() < MOST_AT_ONCE => {
                let name = params.get("suggestedFilename")?.as_str()?.to_owned();
                self.begun.insert(guid, name);
                None
            }
            "Browser.downloadProgress" if params.get("state")? != "inProgress" => {
                let suggested = self.begun.remove(&guid)?;
                if params.get("state")? != "completed" {
                    return None;
                }
                let Wanted { folder, by_number } = self.wanted.clone()?;
                let from = params.get("filePath")?.as_str()?.strip_prefix("/home/agent/")?;
                let inside = |part| matches!(part, Component::Normal(_));
                let from = Path::new(from).components().all(inside).then(|| from.to_owned())?;
                let plain = Path::new(&suggested).file_name()?.to_str()?.to_owned();
                let name = if by_number { guid } else { plain };
                event.get_mut("params")?.as_object_mut()?.remove("filePath");
                Some(Arrived { event, from, folder, name, unique: !by_number })
            }
            _ => None,
        }
    }
}

/// Whether a text has the form in which Chromium numbers downloads. No other text becomes the name
/// of a file here.
fn is_number(guid: &str) -> bool {
    guid.len() == 36 && guid.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// The list of files in a message.
fn named(message: &Value) -> Option<&Vec<Value>> {
    let params = message.get("params")?;
    params.get("files").or_else(|| params.pointer("/data/files"))?.as_array()
}

impl Upload {
    /// The message with paths in the session instead of local ones.
    pub fn renamed(mut self, places: &HashMap<PathBuf, String>) -> String {
        for pointer in ["/params/files", "/params/data/files"] {
            let files = self.message.pointer_mut(pointer).and_then(Value::as_array_mut);
            for path in files.into_iter().flatten() {
                let place = path.as_str().and_then(|path| places.get(Path::new(path)));
                if let Some(place) = place {
                    *path = Value::from(place.as_str());
                }
            }
        }
        self.message.to_string()
    }

    /// The distinct paths.
    pub fn distinct(&self) -> HashSet<PathBuf> {
        self.paths.iter().cloned().collect()
    }
}

fn wanted(params: &Value) -> Option<Wanted> {
    let by_number = match params.get("behavior")?.as_str()? {
        "allow" => false,
        "allowAndName" => true,
        _ => return None,
    };
    let folder = PathBuf::from(params.get("downloadPath")?.as_str()?);
    folder.is_absolute().then_some(Wanted { folder, by_number })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GUID: &str = "0a1b2c3d-0000-4000-8000-000000000001";

    fn behavior(kind: &str) -> String {
        json!({
            "id": 1, "method": "Browser.setDownloadBehavior",
            "params": { "behavior": kind, "downloadPath": "/tmp/mine", "eventsEnabled": true },
        })
        .to_string()
    }

    fn event(name: &str, mut params: Value) -> String {
        if params.get("guid").is_none() {
            params["guid"] = json!(GUID);
        }
        json!({ "method": format!("Browser.download{name}"), "params": params }).to_string()
    }

    #[test]
    fn a_complete_download_goes_to_the_folder_that_the_client_named() {
        for (kind, name) in [("allow", "r.pdf"), ("allowAndName", GUID)] {
            let mut transfers = Transfers::default();
            assert_eq!(transfers.up(&behavior(kind)), None);
            let begun = event("WillBegin", json!({ "suggestedFilename": "../r.pdf" }));
            assert_eq!(transfers.down(&begun), None);
            assert_eq!(transfers.down(&event("Progress", json!({ "state": "inProgress" }))), None);
            let path = "/home/agent/Downloads/r (1).pdf";
            let done = json!({ "state": "completed", "filePath": path });
            let arrived = transfers.down(&event("Progress", done)).unwrap();
            assert_eq!(arrived.from, "Downloads/r (1).pdf");
            assert_eq!((arrived.folder, arrived.name), ("/tmp/mine".into(), name.to_owned()));
        }
    }

    #[test]
    fn a_number_or_path_from_the_session_cannot_leave_the_folder() {
        let home = "/home/agent/Downloads/a";
        for (guid, path) in [
            ("/../../../../home/me/.bashrc", home),
            ("../../../../../../home/me/.bashrc", home),
            ("Makefile", home),
            ("", home),
            (GUID, "/home/agent/../../etc/passwd"),
            (GUID, "/home/agent//etc/passwd"),
        ] {
            let mut transfers = Transfers::default();
            transfers.up(&behavior("allowAndName"));
            let begun = json!({ "guid": guid, "suggestedFilename": "a" });
            transfers.down(&event("WillBegin", begun));
            let done = json!({ "guid": guid, "state": "completed", "filePath": path });
            assert_eq!(transfers.down(&event("Progress", done)), None, "{guid} {path}");
        }
    }

    #[test]
    fn a_download_stays_in_the_session_without_a_local_folder() {
        let mut transfers = Transfers::default();
        transfers.up(&behavior("default"));
        transfers.down(&event("WillBegin", json!({ "suggestedFilename": "a" })));
        let done = json!({ "state": "completed", "filePath": "/home/agent/Downloads/a" });
        assert_eq!(transfers.down(&event("Progress", done)), None);
    }

    #[test]
    fn local_files_are_renamed_and_session_files_are_not() {
        let here = tempfile::NamedTempFile::new().unwrap();
        let message = json!({
            "id": 1, "method": "DOM.setFileInputFiles",
            "params": { "files": [here.path(), "/home/agent/there.txt"] },
        });
        let upload = Transfers::default().up(&message.to_string()).unwrap();
        assert_eq!(upload.paths, [here.path()]);
        let place = "/home/agent/Uploads/1/a".to_owned();
        let renamed = upload.renamed(&[(here.path().to_owned(), place.clone())].into());
        let renamed: Value = serde_json::from_str(&renamed).unwrap();
        assert_eq!(renamed["params"]["files"], json!([place, "/home/agent/there.txt"]));
    }
}
