//! Transfers files of the guest as streams: they may be larger than memory.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use helmdeck_wire::{
    byte_range::ByteRange,
    extension::ExtensionName,
    file::{FileList, FileStored, HomePath},
    guest::{OneExtension, OneFile, SaveProfile},
};
use http::{HeaderValue, Method, Request, StatusCode, header::CONTENT_LENGTH};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::{
    Link, LinkError,
    client::{Connection, Outgoing, address, collect, get, outgoing, parsed, refusal, within},
    route,
};

/// A folder is listed at once.
const LIST_DEADLINE: Duration = Duration::from_secs(30);
/// A transfer that makes no progress for this long is aborted.
pub const STALL: Duration = Duration::from_secs(60);

/// A file being read from the guest.
pub struct Download {
    /// The number of bytes, if known in advance.
    pub size: Option<u64>,
    /// For a requested range: its first byte, and the size of the whole file.
    pub part: Option<(u64, u64)>,
    body: Incoming,
    /// Keeps the transfer open.
    _connection: Connection,
}

impl Download {
    /// The next piece; `None` at the end. A file truncated meanwhile is an error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, LinkError> {
        loop {
            let Some(frame) = within(STALL, async { Ok(self.body.frame().await) }).await? else {
                return Ok(None);
            };
            if let Ok(bytes) = frame.map_err(LinkError::Broken)?.into_data() {
                return Ok(Some(bytes));
            }
        }
    }
}

impl Link {
    /// Lists a folder of the home.
    pub async fn list_files(&self, path: &HomePath) -> Result<FileList, LinkError> {
        let file = OneFile::new(path.clone());
        let reply = self.call(get(&address(route::FOLDER, &file)?)?, LIST_DEADLINE).await?;
        parsed(&reply.body)
    }

    /// Starts reading a file of the home, or a range of it.
    pub async fn read_file(
        &self,
        path: &HomePath,
        range: Option<ByteRange>,
    ) -> Result<Download, LinkError> {
        let file = OneFile { range, ..OneFile::new(path.clone()) };
        self.download(get(&address(route::FILE, &file)?)?).await
    }

    /// Starts reading the browser's profile; with `last`, the browser is closed first.
    pub async fn save_profile(&self, last: bool) -> Result<Download, LinkError> {
        self.download(get(&address(route::PROFILE, &SaveProfile { last })?)?).await
    }

    async fn download(&self, request: Request<Outgoing>) -> Result<Download, LinkError> {
        within(STALL, async {
            let mut connection = self.open().await?;
            let response = connection.send_request(request).await.map_err(LinkError::Broken)?;
            let (head, body) = response.into_parts();
            if head.status != StatusCode::OK {
                return Err(refusal(head.status, &collect(body).await?));
            }
            let header = |name: &str| head.headers.get(name).and_then(number);
            let part = header(route::FILE_FIRST).zip(header(route::FILE_SIZE));
            let size = header(CONTENT_LENGTH.as_str());
            Ok(Download { size, part, body, _connection: connection })
        })
        .await
    }

    /// Writes a file into the home, completely or not at all.
    pub async fn write_file(
        &self,
        file: &OneFile,
        content: Outgoing,
    ) -> Result<FileStored, LinkError> {
        parsed(&self.upload(&address(route::FILE, file)?, content).await?)
    }

    /// Sends the browser's profile to the guest.
    pub async fn load_profile(&self, content: Outgoing) -> Result<(), LinkError> {
        self.upload(route::PROFILE, content).await.map(|_| ())
    }

    /// Sends a browser extension to the guest.
    pub async fn load_extension(
        &self,
        name: &ExtensionName,
        content: Outgoing,
    ) -> Result<(), LinkError> {
        let extension = OneExtension { name: name.clone() };
        self.upload(&address(route::EXTENSION, &extension)?, content).await.map(|_| ())
    }

    async fn upload(&self, path: &str, content: Outgoing) -> Result<Bytes, LinkError> {
        let moved = Arc::new(Mutex::new(Instant::now()));
        let moving = moved.clone();
        let content = content.map_frame(move |frame| {
            *moving.lock() = Instant::now();
            frame
        });
        let request = outgoing(Method::PUT, path, content.boxed_unsync())?;
        let transfer = async {
            let mut connection = self.open().await?;
            let response = connection.send_request(request).await.map_err(sent)?;
            let (head, body) = response.into_parts();
            let body = collect(body).await?;
            if head.status == StatusCode::OK { Ok(body) } else { Err(refusal(head.status, &body)) }
        };
        tokio::pin!(transfer);
        loop {
            let stalled = *moved.lock() + STALL;
            tokio::select! {
                done = &mut transfer => return done,
                () = sleep_until(stalled) => {
                    if moved.lock().elapsed() >= STALL {
                        return Err(LinkError::Deadline(STALL));
                    }
                }
            }
        }
    }
}

/// Attributes a send error to the guest or to the source of the body.
fn sent(error: hyper::Error) -> LinkError {
    if error.is_user() { LinkError::BrokeOff } else { LinkError::Broken(error) }
}

fn number(value: &HeaderValue) -> Option<u64> {
    value.to_str().ok()?.parse().ok()
}
