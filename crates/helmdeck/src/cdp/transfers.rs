//! Tracks the clients' download settings and files. Pure.

use std::{
    collections::{HashMap, HashSet},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use helmdeck_cdp::ClientMessage;
use parking_lot::Mutex;
use serde_json::Value;

/// Maximum number of simultaneous downloads. More stay in the session.
const MOST_AT_ONCE: usize = 1000;
/// Longer events are not about downloads.
const MAX_READ: usize = 1 << 20;

/// The folders that the connected clients named. A client may name its folder on its connection to
/// the browser and wait for downloads on its connection to a page.
#[derive(Clone, Default)]
pub struct Folders(Arc<Mutex<Named>>);

#[derive(Default)]
struct Named {
    connections: u64,
    /// By connection; the last named one is last.
    wanted: Vec<(u64, Wanted)>,
}

/// The downloads of one connection of a client.
pub struct Transfers {
    folders: Folders,
    connection: u64,
    /// What this connection asked for; `None` if it said nothing about downloads.
    wanted: Option<Option<Wanted>>,
    /// File names suggested by pages, by the protocol's domain and the download's id.
    begun: HashMap<(String, String), String>,
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
    /// The download's id.
    pub guid: String,
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
    /// A new connection beside others of these folders.
    pub fn new(folders: Folders) -> Self {
        let mut named = folders.0.lock();
        named.connections += 1;
        let connection = named.connections;
        drop(named);
        Self { folders, connection, wanted: None, begun: HashMap::new() }
    }

    /// Inspects a client's message. An upload is delayed until its files are in the session.
    pub fn up(&mut self, text: &str) -> Option<Upload> {
        let about_files = text.contains("setDownloadBehavior") || text.contains("\"files\"");
        if !about_files {
            return None;
        }
        let method = ClientMessage::at(text).ok()?.method;
        let message = || serde_json::from_str::<Value>(text).ok();
        match &*method {
            "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => {
                self.name(wanted(message()?.get("params")?));
                None
            }
            "DOM.setFileInputFiles" | "Input.dispatchDragEvent" => {
                let message = message()?;
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
        let is_download =
            ["\"Browser.download", "\"Page.download"].iter().any(|it| text.contains(it));
        if text.len() > MAX_READ || !is_download {
            return None;
        }
        let mut event: Value = serde_json::from_str(text).ok()?;
        let params = event.get("params")?;
        let guid = params.get("guid")?.as_str().filter(|guid| is_number(guid))?.to_owned();
        let (domain, what) = event.get("method")?.as_str()?.split_once('.')?;
        // A client may get the events of both domains.
        let key = (domain.to_owned(), guid.clone());
        match what {
            "downloadWillBegin" if self.begun.len() < MOST_AT_ONCE => {
                let name = params.get("suggestedFilename")?.as_str()?.to_owned();
                self.begun.insert(key, name);
                None
            }
            "downloadProgress" if params.get("state")? != "inProgress" => {
                let suggested = self.begun.remove(&key)?;
                if params.get("state")? != "completed" {
                    return None;
                }
                let Wanted { folder, by_number } = self.folder()?;
                let from = params.get("filePath")?.as_str()?.strip_prefix("/home/agent/")?;
                let inside = |part| matches!(part, Component::Normal(_));
                let from = Path::new(from).components().all(inside).then(|| from.to_owned())?;
                let plain = Path::new(&suggested).file_name()?.to_str()?.to_owned();
                let name = if by_number { guid.clone() } else { plain };
                event.get_mut("params")?.as_object_mut()?.remove("filePath");
                Some(Arrived { event, guid, from, folder, name, unique: !by_number })
            }
            _ => None,
        }
    }

    fn name(&mut self, wanted: Option<Wanted>) {
        let mut named = self.folders.0.lock();
        named.wanted.retain(|(connection, _)| *connection != self.connection);
        named.wanted.extend(wanted.clone().map(|wanted| (self.connection, wanted)));
        drop(named);
        self.wanted = Some(wanted);
    }

    /// The folder of this connection, or the last one that another connection named.
    fn folder(&self) -> Option<Wanted> {
        match &self.wanted {
            Some(own) => own.clone(),
            None => self.folders.0.lock().wanted.last().map(|(_, wanted)| wanted.clone()),
        }
    }
}

/// Like in Chromium, a connection's settings end with it.
impl Drop for Transfers {
    fn drop(&mut self) {
        self.folders.0.lock().wanted.retain(|(connection, _)| *connection != self.connection);
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

    fn transfers() -> Transfers {
        Transfers::new(Folders::default())
    }

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
            let mut transfers = transfers();
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
            let mut transfers = transfers();
            transfers.up(&behavior("allowAndName"));
            let begun = json!({ "guid": guid, "suggestedFilename": "a" });
            transfers.down(&event("WillBegin", begun));
            let done = json!({ "guid": guid, "state": "completed", "filePath": path });
            assert_eq!(transfers.down(&event("Progress", done)), None, "{guid} {path}");
        }
    }

    #[test]
    fn a_download_stays_in_the_session_without_a_local_folder() {
        let mut transfers = transfers();
        transfers.up(&behavior("default"));
        transfers.down(&event("WillBegin", json!({ "suggestedFilename": "a" })));
        let done = json!({ "state": "completed", "filePath": "/home/agent/Downloads/a" });
        assert_eq!(transfers.down(&event("Progress", done)), None);
    }

    #[test]
    fn a_folder_named_to_the_browser_receives_what_a_page_downloads() {
        let folders = Folders::default();
        let mut browser = Transfers::new(folders.clone());
        let page = || Transfers::new(folders.clone());
        let downloaded = |mut page: Transfers| {
            let of_page = |name, params| event(name, params).replace("Browser.", "Page.");
            page.down(&of_page("WillBegin", json!({ "suggestedFilename": "r.pdf" })));
            let done = json!({ "state": "completed", "filePath": "/home/agent/Downloads/r.pdf" });
            let arrived = page.down(&of_page("Progress", done))?;
            assert_eq!(arrived.event["method"], "Page.downloadProgress");
            Some((arrived.folder, arrived.name))
        };
        assert_eq!(downloaded(page()), None, "no connection named a folder");
        browser.up(&behavior("allow"));
        assert_eq!(downloaded(page()), Some(("/tmp/mine".into(), "r.pdf".to_owned())));
        let mut other = page();
        other.up(&behavior("default"));
        assert_eq!(downloaded(other), None, "its own wish comes first");
        drop(browser);
        assert_eq!(downloaded(page()), None, "settings end with their connection");
    }

    #[test]
    fn events_of_both_domains_wait_for_the_file() {
        let mut transfers = transfers();
        transfers.up(&behavior("allow"));
        let done = json!({ "state": "completed", "filePath": "/home/agent/Downloads/a" });
        let of = |domain: &str, text: String| text.replace("Browser.", domain);
        for domain in ["Browser.", "Page."] {
            let begun = event("WillBegin", json!({ "suggestedFilename": "a" }));
            assert_eq!(transfers.down(&of(domain, begun)), None);
        }
        for domain in ["Page.", "Browser."] {
            let done = of(domain, event("Progress", done.clone()));
            assert!(transfers.down(&done).is_some(), "{domain}");
        }
    }

    #[test]
    fn a_large_upload_is_found_too() {
        let here = tempfile::NamedTempFile::new().unwrap();
        let files = vec![here.path(); 40_000];
        let drag =
            json!({ "type": "drop", "x": 1, "y": 1, "data": { "items": [], "files": files } });
        let message = json!({ "id": 1, "method": "Input.dispatchDragEvent", "params": drag });
        let upload = transfers().up(&message.to_string()).unwrap();
        assert_eq!((upload.paths.len(), upload.distinct().len()), (40_000, 1));
    }

    #[test]
    fn local_files_are_renamed_and_session_files_are_not() {
        let here = tempfile::NamedTempFile::new().unwrap();
        let message = json!({
            "id": 1, "method": "DOM.setFileInputFiles",
            "params": { "files": [here.path(), "/home/agent/there.txt"] },
        });
        let upload = transfers().up(&message.to_string()).unwrap();
        assert_eq!(upload.paths, [here.path()]);
        let place = "/home/agent/Uploads/1/a".to_owned();
        let renamed = upload.renamed(&[(here.path().to_owned(), place.clone())].into());
        let renamed: Value = serde_json::from_str(&renamed).unwrap();
        assert_eq!(renamed["params"]["files"], json!([place, "/home/agent/there.txt"]));
    }
}
