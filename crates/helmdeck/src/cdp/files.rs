//! File transfers between this machine and the session.

use std::{
    collections::HashMap,
    error::Error,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use futures_util::stream;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::TokioIo;
use tokio::{
    fs::{self, File, OpenOptions},
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::transfers::{Arrived, Upload};
use crate::remote::Remote;

/// Deadline to read a refusal. The response starts after an upload is complete.
const REFUSAL_DEADLINE: Duration = Duration::from_secs(20);
/// Maximum pause during a transfer.
const STALL_DEADLINE: Duration = Duration::from_secs(60);
/// Maximum time for a whole file.
const FILE_DEADLINE: Duration = Duration::from_secs(3600);
const PIECE: usize = 256 << 10;
/// Maximum number of files in a folder.
const MAX_FILES: usize = 10_000;
/// Upload folder in the session's home.
const UPLOADS: &str = "Uploads";

/// Body of a request.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;
/// Why a transfer failed.
pub type Failure = Box<dyn Error + Send + Sync>;

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
        fs::create_dir_all(&arrived.folder).await?;
        let path = self.path(&arrived.from);
        let response = self.call(Method::GET, &path, empty()).await?;
        let part = arrived.folder.join(format!(".{}.part", arrived.name));
        let mut body = response.into_body();
        let written = async {
            let mut file = File::create(&part).await?;
            while let Some(frame) = timeout(STALL_DEADLINE, body.frame()).await? {
                if let Ok(piece) = frame?.into_data() {
                    file.write_all(&piece).await?;
                }
            }
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
        let pieces = stream::try_unfold(file, async |mut file| {
            let mut piece = vec![0; PIECE];
            let read = file.read(&mut piece).await?;
            piece.truncate(read);
            Ok((read > 0).then(|| (Frame::data(Bytes::from(piece)), file)))
        });
        let body = StreamBody::new(pieces).boxed_unsync();
        let path = self.path(place);
        timeout(FILE_DEADLINE, self.call(Method::PUT, &path, body)).await??;
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

    /// Calls the server, and returns a successful response.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Body,
    ) -> Result<Response<Incoming>, Failure> {
        let authorized = self.server.request(path)?;
        let authority = authorized.uri().authority().ok_or("an address without a host")?;
        let target = authorized.uri().path_and_query().map_or(path, |target| target.as_str());
        let stream = self.server.dial().await?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // Ends with the response.
        tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::HOST, authority.as_str())
            .body(body)?;
        if let Some(bearer) = authorized.headers().get(header::AUTHORIZATION) {
            request.headers_mut().insert(header::AUTHORIZATION, bearer.clone());
        }
        let response = timeout(FILE_DEADLINE, sender.send_request(request)).await??;
        if matches!(response.status(), StatusCode::OK | StatusCode::CREATED) {
            return Ok(response);
        }
        let status = response.status();
        let answer = timeout(REFUSAL_DEADLINE, response.into_body().collect()).await??.to_bytes();
        let why = serde_json::from_slice::<helmdeck_wire::ErrorBody>(&answer);
        Err(why.map_or_else(|_| format!("status {status}"), |body| body.message).into())
    }
}

/// An empty body.
pub fn empty() -> Body {
    Full::default().map_err(|never| match never {}).boxed_unsync()
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
