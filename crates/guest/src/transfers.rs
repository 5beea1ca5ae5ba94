//! Downloads and uploads of debugging clients, in sessions that are not attached.

use std::{collections::VecDeque, sync::Arc};

use helmdeck_browser::DownloadFiles;
use helmdeck_cdp::{ClientMessage, refusal};
use helmdeck_task::block_in_place;
use rustix::{
    fs::{FileType, OFlags, fstat},
    io::Errno,
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{files, handover, nest::HOME};

/// The protocol's error code for failed calls.
const SERVER_ERROR: i64 = -32000;
/// Limit on simultaneous downloads; further ones keep their numbers as names.
const MOST_AT_ONCE: usize = 1000;
/// Longer messages are not about downloads.
const MAX_EVENT: usize = 64 << 10;

/// The downloads of one client.
pub struct Downloads {
    download_files: Arc<DownloadFiles>,
    /// Suggested names by the protocol's domain and number. A client may get the events of both
    /// domains, for all pages and for one.
    begun: VecDeque<(Key, String)>,
}

type Key = (String, String);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Begun {
    guid: String,
    suggested_filename: String,
}

impl Downloads {
    /// Downloads that arrive in this folder.
    pub fn new(download_files: Arc<DownloadFiles>) -> Self {
        Self { download_files, begun: VecDeque::new() }
    }

    /// Replaces the message that a download is complete. The file has its final name by then, and
    /// the new message contains it.
    pub fn settled(&mut self, message: &str) -> Option<String> {
        let is_download =
            ["\"Browser.download", "\"Page.download"].iter().any(|it| message.contains(it));
        if message.len() > MAX_EVENT || !is_download {
            return None;
        }
        let mut event: Value = serde_json::from_str(message).ok()?;
        let (domain, what) = event.get("method")?.as_str()?.split_once('.')?;
        let domain = domain.to_owned();
        match what {
            "downloadWillBegin" => {
                let begun = Begun::deserialize(event.get("params")?).ok()?;
                if self.begun.len() >= MOST_AT_ONCE {
                    self.begun.pop_front();
                }
                self.begun.push_back(((domain, begun.guid), begun.suggested_filename));
                None
            }
            "downloadProgress" => {
                let params = event.get_mut("params")?;
                let key = (domain, params.get("guid")?.as_str()?.to_owned());
                let place = self.begun.iter().position(|(known, _)| *known == key)?;
                if params.get("state")? == "inProgress" {
                    return None;
                }
                let ((_, guid), name) = self.begun.remove(place)?;
                if params.get("state")? != "completed" {
                    return None;
                }
                let path = block_in_place(|| self.download_files.finish(&guid, &name))?;
                params.as_object_mut()?.insert("filePath".to_owned(), json!(path));
                Some(event.to_string())
            }
            _ => None,
        }
    }
}

/// Hands the files of an upload over to the browser. Returns the error for a client that names
/// files which are not in the session, or too many: Chromium would accept the paths and send empty
/// files.
pub fn refused_upload(text: &str) -> Option<String> {
    let message = ClientMessage::at(text).ok()?;
    let paths = uploaded(&message)?;
    let missing = paths.iter().flatten().find_map(|path| Some((path, missing(path)?)));
    let why = match (missing, paths.as_deref()) {
        (Some((path, why)), _) => format!(
            "{path}: {why}; put the file into the session first (PUT \
             /api/v1/sessions/ID/files/NAME, then {HOME}/NAME), or connect through `helmdeck cdp`, \
             which uploads files of your machine"
        ),
        (None, Some(paths)) => {
            handover::upload(paths.iter().filter_map(|path| inside(path))).err()?.to_string()
        }
        (None, None) => "files: expected a list of paths".to_owned(),
    };
    Some(refusal(Some(message.id), message.session_id.as_deref(), SERVER_ERROR, &why))
}

/// The paths in a message that uploads files: `None` for other messages, `Some(None)` if they
/// cannot be parsed.
fn uploaded(message: &ClientMessage<'_>) -> Option<Option<Vec<String>>> {
    #[derive(Deserialize)]
    struct Chosen {
        #[serde(default)]
        files: Vec<String>,
    }
    #[derive(Deserialize)]
    struct Dropped {
        #[serde(default)]
        data: DragData,
    }
    #[derive(Default, Deserialize)]
    struct DragData {
        #[serde(default)]
        files: Vec<String>,
    }
    let params = message.params.map_or("{}", RawValue::get);
    match &*message.method {
        "DOM.setFileInputFiles" => {
            Some(serde_json::from_str::<Chosen>(params).ok().map(|chosen| chosen.files))
        }
        "Input.dispatchDragEvent" => {
            Some(serde_json::from_str::<Dropped>(params).ok().map(|dropped| dropped.data.files))
        }
        _ => None,
    }
}

/// The part of a path below the home.
fn inside(path: &str) -> Option<&str> {
    path.strip_prefix(HOME)?.strip_prefix('/')
}

/// Why a path is not a file or folder in the home.
fn missing(path: &str) -> Option<String> {
    let Some(inside) = inside(path) else {
        return Some(format!("not below {HOME}, the session's home"));
    };
    let found = block_in_place(|| {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        fstat(files::open(inside, flags)?)
    });
    match found.map(|facts| FileType::from_raw_mode(facts.st_mode)) {
        Ok(FileType::RegularFile | FileType::Directory) => None,
        Ok(_) => Some("not a file".to_owned()),
        Err(Errno::NOENT) => Some("no such file in the session".to_owned()),
        Err(errno) => Some(errno.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_of_files_outside_the_session_are_refused() {
        let ask = |method: &str, params: Value| {
            let call = json!({ "id": 7, "sessionId": "S", "method": method, "params": params });
            let answer = refused_upload(&call.to_string())?;
            Some(serde_json::from_str::<Value>(&answer).unwrap())
        };
        let choose = |files: Value| ask("DOM.setFileInputFiles", json!({ "files": files }));
        let drop = |files: Value| {
            let data = json!({ "items": [], "files": files, "dragOperationsMask": 1 });
            let drop = json!({ "type": "drop", "x": 1, "y": 1, "data": data });
            ask("Input.dispatchDragEvent", drop)
        };
        for path in ["/etc/passwd", "relative.txt", "C:\\a.txt", "/home/agentx/a"] {
            for answer in [choose(json!([path])), drop(json!([path]))] {
                let answer = answer.unwrap();
                assert_eq!((&answer["id"], &answer["sessionId"]), (&json!(7), &json!("S")));
                let message = answer["error"]["message"].as_str().unwrap();
                assert!(message.contains(path) && message.contains("helmdeck cdp"), "{message}");
            }
        }
        assert_eq!((choose(json!([])), drop(json!([]))), (None, None));
        let without = json!({ "type": "drop", "x": 1, "y": 1, "data": { "items": [] } });
        assert_eq!(ask("Input.dispatchDragEvent", without), None);
        for answer in [choose(json!("/etc/passwd")), drop(json!([1]))] {
            assert!(answer.unwrap()["error"]["message"].as_str().unwrap().contains("list"));
        }
        assert_eq!(
            refused_upload(r#"{"id":7,"method":"DOM.focus","params":{"files":["x"]}}"#),
            None
        );
    }

    #[test]
    fn downloads_have_their_names_in_the_events_of_the_browser_and_of_a_page() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("Downloads");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("a-1"), "").unwrap();
        let files = Arc::new(DownloadFiles::new(home.path().to_owned()));
        // The browser's events go to one connection, and those of the page to another.
        for domain in ["Page", "Browser"] {
            let mut downloads = Downloads::new(Arc::clone(&files));
            let mut hear = |what: &str, params: Value| {
                let event = json!({ "method": format!("{domain}.{what}"), "params": params });
                downloads.settled(&event.to_string())
            };
            let begun = json!({ "guid": "a-1", "suggestedFilename": "r.pdf", "url": "" });
            assert_eq!(hear("downloadWillBegin", begun), None);
            let told = hear("downloadProgress", json!({ "guid": "a-1", "state": "completed" }));
            let told: Value = serde_json::from_str(&told.unwrap()).unwrap();
            assert_eq!(told["params"]["filePath"], json!(folder.join("r.pdf")));
        }
    }
}
