//! File transfers between this machine and the session.

use std::{
    collections::{HashMap, VecDeque},
    error::Error,
    ffi::OsStr,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use http::{HeaderMap, Method};
use parking_lot::Mutex;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::{
    fs::{self, File, OpenOptions},
    sync::OnceCell,
    time::timeout,
};

use super::transfers::{Arrived, Upload};
use crate::{
    remote::Remote,
    transfer::{self, Failure},
};

/// Maximum time for a whole file.
const FILE_DEADLINE: Duration = Duration::from_secs(3600);
/// Maximum number of files and folders of one upload. The guest has the same limit.
const MAX_FILES: usize = 10_000;
/// Limit on remembered downloads.
const REMEMBERED: usize = 1000;
/// Upload folder in the session's home.
const UPLOADS: &str = "Uploads";

/// The files of one session.
#[derive(Clone)]
pub struct Files {
    server: Arc<Remote>,
    session: String,
    /// Separates this program's uploads from others.
    name: String,
    last: Arc<AtomicU64>,
    fetched: Fetched,
}

/// Downloads by what identifies them. Several connections may be told of the same one.
#[derive(Clone, Default)]
struct Fetched(Arc<Mutex<VecDeque<(Key, Place)>>>);

/// A download's id, its path in the session, and its local folder and name.
type Key = (String, String, PathBuf, String);
/// The local path, once the file is there.
type Place = Arc<OnceCell<PathBuf>>;

impl Fetched {
    /// Where to store the local path of a download.
    fn place(&self, arrived: &Arrived) -> Place {
        let Arrived { guid, from, folder, name, .. } = arrived;
        let key = (guid.clone(), from.clone(), folder.clone(), name.clone());
        let mut known = self.0.lock();
        if let Some((_, place)) = known.iter().find(|(other, _)| *other == key) {
            return place.clone();
        }
        if known.len() >= REMEMBERED {
            known.pop_front();
        }
        let place = Place::default();
        known.push_back((key, place.clone()));
        place
    }
}

impl Files {
    /// The files of a session.
    pub fn new(server: Arc<Remote>, session: &str) -> Result<Self, Box<dyn Error>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let name = format!("{now}-{}", std::process::id());
        let (last, fetched) = (Arc::default(), Fetched::default());
        Ok(Self { server, session: session.to_owned(), name, last, fetched })
    }

    /// Downloads a file once, and returns its local path.
    pub async fn fetch(&self, arrived: &Arrived) -> Result<PathBuf, Failure> {
        let place = self.fetched.place(arrived);
        place.get_or_try_init(|| self.download(arrived)).await.cloned()
    }

    async fn download(&self, arrived: &Arrived) -> Result<PathBuf, Failure> {
        if Path::new(&arrived.name).file_name() != Some(OsStr::new(&arrived.name)) {
            return Err("the name of the file leads out of the folder".into());
        }
        fs::create_dir_all(&arrived.folder).await?;
        let path = self.path(&arrived.from);
        let headers = HeaderMap::new();
        let response =
            transfer::call(&self.server, Method::GET, &path, headers, transfer::empty()).await?;
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let part = arrived.folder.join(format!(".helmdeck-{}-{number}.part", self.name));
        let written = async {
            let mut file = OpenOptions::new().write(true).create_new(true).open(&part).await?;
            transfer::save(response, &mut file).await?;
            file.sync_all().await?;
            place(&part, arrived).await
        };
        let written: Result<PathBuf, Failure> = written.await;
        if written.is_err() {
            let _ = fs::remove_file(&part).await;
        }
        written
    }

    /// Uploads the files into the session, and returns the message with their paths there.
    pub async fn bring(&self, upload: Upload) -> Result<String, Failure> {
        let (mut places, mut all) = (HashMap::new(), Vec::new());
        for path in upload.distinct() {
            let name = path.file_name().ok_or("a path without a name")?.to_string_lossy();
            let number = self.last.fetch_add(1, Ordering::Relaxed);
            let place = format!("{UPLOADS}/{}/{number}/{name}", self.name);
            add(path.clone(), place.clone(), &mut all).await?;
            places.insert(path, format!("/home/agent/{place}"));
        }
        for (path, place) in all.iter().filter(|(path, _)| !path.is_dir()) {
            self.put(path, place).await?;
        }
        Ok(upload.renamed(&places))
    }

    async fn put(&self, path: &Path, place: &str) -> Result<(), Failure> {
        let file = File::open(path).await?;
        // Pages see the time of the last change.
        let changed = OffsetDateTime::from(file.metadata().await?.modified()?).format(&Rfc3339)?;
        let path = format!("{}?modified_at={changed}", self.path(place));
        let (body, headers) = (transfer::body_of(file), HeaderMap::new());
        let put = transfer::call(&self.server, Method::PUT, &path, headers, body);
        timeout(FILE_DEADLINE, put).await??;
        Ok(())
    }

    fn path(&self, file: &str) -> String {
        let mut path = format!("/api/v1/sessions/{}/files", self.session);
        for part in file.split('/') {
            path.push('/');
            for byte in part.bytes() {
                if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                    path.push(char::from(byte));
                } else {
                    // Writing to a string cannot fail.
                    let _ = write!(path, "%{byte:02X}");
                }
            }
        }
        path
    }
}

/// Adds a file, or a folder with its content, to the files and folders of an upload.
async fn add(
    path: PathBuf,
    place: String,
    all: &mut Vec<(PathBuf, String)>,
) -> Result<(), Failure> {
    let mut next = all.len();
    all.push((path, place));
    while let Some((path, place)) = all.get(next).cloned() {
        next += 1;
        if all.len() > MAX_FILES {
            let why = format!("it has more than {MAX_FILES} files and folders: use an archive");
            return Err(why.into());
        }
        if !fs::metadata(&path).await?.is_dir() {
            continue;
        }
        let mut entries = fs::read_dir(&path).await?;
        while let Some(entry) = entries.next_entry().await? {
            let place = format!("{place}/{}", entry.file_name().to_string_lossy());
            all.push((entry.path(), place));
        }
    }
    Ok(())
}

/// Renames a complete file. Numbered names are kept; for others, a free name is found.
async fn place(part: &Path, arrived: &Arrived) -> Result<PathBuf, Failure> {
    let named = arrived.folder.join(&arrived.name);
    if !arrived.unique {
        fs::rename(part, &named).await?;
        return Ok(named);
    }
    let (stem, extension) = match arrived.name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (arrived.name.as_str(), String::new()),
    };
    for number in 0..MAX_FILES {
        let path = match number {
            0 => named.clone(),
            number => arrived.folder.join(format!("{stem} ({number}){extension}")),
        };
        // Created exclusively, so that no existing file is replaced.
        match OpenOptions::new().write(true).create_new(true).open(&path).await {
            Ok(_) => {
                fs::rename(part, &path).await?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err("too many files with this name".into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_download_that_two_connections_announce_is_fetched_once() {
        let arrived = |guid: &str, folder: &str| Arrived {
            event: json!({}),
            guid: guid.to_owned(),
            from: "Downloads/a".to_owned(),
            folder: folder.into(),
            name: "a".to_owned(),
            unique: true,
        };
        let fetched = Fetched::default();
        fetched.place(&arrived("1", "/mine")).set("/mine/a".into()).unwrap();
        assert!(fetched.place(&arrived("1", "/mine")).get().is_some());
        assert!(fetched.place(&arrived("2", "/mine")).get().is_none());
        assert!(fetched.place(&arrived("1", "/other")).get().is_none());
        for number in 0..REMEMBERED {
            fetched.place(&arrived(&format!("more {number}"), "/mine"));
        }
        assert_eq!(fetched.0.lock().len(), REMEMBERED);
    }

    #[tokio::test]
    async fn an_upload_includes_hidden_files_and_refuses_more_than_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/HEAD"), "").unwrap();
        let mut all = Vec::new();
        add(folder.path().to_owned(), "x".to_owned(), &mut all).await.unwrap();
        let places: Vec<_> = all.iter().map(|(_, place)| place.as_str()).collect();
        assert_eq!(places, ["x", "x/.git", "x/.git/HEAD"]);
        let mut all = vec![(PathBuf::new(), String::new()); MAX_FILES - 1];
        let why = add(folder.path().to_owned(), "x".to_owned(), &mut all).await.unwrap_err();
        assert!(why.to_string().contains("10000"), "{why}");
    }
}
