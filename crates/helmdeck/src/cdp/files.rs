//! File transfers between this machine and the session.

use std::{
    collections::HashMap,
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
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::{
    fs::{self, File, OpenOptions},
    time::timeout,
};

use super::transfers::{Arrived, Upload};
use crate::{
    remote::Remote,
    transfer::{self, Failure},
};

/// Maximum time for a whole file.
const FILE_DEADLINE: Duration = Duration::from_secs(3600);
/// Maximum number of files in a folder.
const MAX_FILES: usize = 10_000;
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
}

impl Files {
    /// The files of a session.
    pub fn new(server: Arc<Remote>, session: &str) -> Result<Self, Box<dyn Error>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let name = format!("{now}-{}", std::process::id());
        Ok(Self { server, session: session.to_owned(), name, last: Arc::default() })
    }

    /// Downloads a file, and returns its local path.
    pub async fn fetch(&self, arrived: &Arrived) -> Result<PathBuf, Failure> {
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
        let mut places = HashMap::new();
        for path in upload.distinct() {
            let name = path.file_name().ok_or("a path without a name")?.to_string_lossy();
            let number = self.last.fetch_add(1, Ordering::Relaxed);
            let place = format!("{UPLOADS}/{}/{number}/{name}", self.name);
            self.put_all(&path, &place).await?;
            places.insert(path, format!("/home/agent/{place}"));
        }
        Ok(upload.renamed(&places))
    }

    /// Uploads a file, or a folder with its content.
    async fn put_all(&self, path: &Path, place: &str) -> Result<(), Failure> {
        let mut left = vec![(path.to_owned(), place.to_owned())];
        let mut files = 0;
        while let Some((path, place)) = left.pop() {
            if !fs::metadata(&path).await?.is_dir() {
                files += 1;
                if files > MAX_FILES {
                    return Err(format!("the folder has more than {MAX_FILES} files").into());
                }
                self.put(&path, &place).await?;
                continue;
            }
            let mut entries = fs::read_dir(&path).await?;
            while let Some(entry) = entries.next_entry().await? {
                let place = format!("{place}/{}", entry.file_name().to_string_lossy());
                left.push((entry.path(), place));
            }
        }
        Ok(())
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
