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
use serde_json::{Value, json};

use crate::{files, nest::HOME};

/// The protocol's error code for failed calls.
const SERVER_ERROR: i64 = -32000;
/// Limit on simultaneous downloads; further ones keep their numbers as names.
const MOST_AT_ONCE: usize = 1000;
/// Longer messages are not about downloads.
const MAX_EVENT: usize = 64 << 10;

/// The downloads of one client.
pub struct Downloads {
    download_files: Arc<DownloadFiles>,
    /// Suggested names by number.
    begun: VecDeque<(String, String)>,
}

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
        if message.len() > MAX_EVENT || !message.contains("\"Browser.download") {
            return None;
        }
        let mut event: Value = serde_json::from_str(message).ok()?;
        match event.get("method")?.as_str()? {
            "Browser.downloadWillBegin" => {
                let begun = Begun::deserialize(event.get("params")?).ok()?;
                if self.begun.len() >= MOST_AT_ONCE {
                    self.begun.pop_front();
                }
                self.begun.push_back((begun.guid, begun.suggested_filename));
                None
            }
            "Browser.downloadProgress" => {
                let params = event.get_mut("params")?;
                let guid = params.get("guid")?.as_str()?;
                let place = self.begun.iter().position(|(known, _)| known == guid)?;
                if params.get("state")? == "inProgress" {
                    return None;
                }
                let (guid, name) = self.begun.remove(place)?;
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

/// The error for a client that uploads a file which is not in the session. Chromium would accept
/// the path and send an empty file.
pub fn refused_upload(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Upload {
        #[serde(default)]
        files: Vec<String>,
    }
    let message = ClientMessage::at(text).ok()?;
    if message.method != "DOM.setFileInputFiles" {
        return None;
    }
    let upload: Upload = serde_json::from_str(message.params?.get()).ok()?;
    let missing = upload.files.iter().find_map(|path| Some((path, missing(path)?)));
    let (path, why) = missing?;
    let why = format!(
        "{path}: {why}; put the file into the session first (PUT \
         /api/v1/sessions/ID/files/NAME, then {HOME}/NAME), or connect through `helmdeck cdp`, \
         which uploads files of your machine"
    );
    Some(refusal(Some(message.id), message.session_id.as_deref(), SERVER_ERROR, &why))
}

/// Why a path is not a file or folder in the home.
fn missing(path: &str) -> Option<String> {
    let Some(inside) = path.strip_prefix(HOME).and_then(|rest| rest.strip_prefix('/')) else {
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
        let ask = |files: &str| {
            let text = format!(
                r#"{{"id":7,"sessionId":"S","method":"DOM.setFileInputFiles","params":{{"files":{files}}}}}"#
            );
            refused_upload(&text).map(|answer| serde_json::from_str::<Value>(&answer).unwrap())
        };
        for path in ["/etc/passwd", "relative.txt", "C:\\a.txt", "/home/agentx/a"] {
            let answer = ask(&json!([path]).to_string()).unwrap();
            assert_eq!((&answer["id"], &answer["sessionId"]), (&json!(7), &json!("S")));
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(path) && message.contains("helmdeck cdp"), "{message}");
        }
        assert_eq!(ask("[]"), None);
        assert_eq!(
            refused_upload(r#"{"id":7,"method":"DOM.focus","params":{"files":["x"]}}"#),
            None
        );
    }
}
