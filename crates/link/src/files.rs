//! Files of the guest, in pieces: they may be larger than memory.

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

/// A folder is read at once.
const LIST_DEADLINE: Duration = Duration::from_secs(30);
/// A transfer that does not move for this long is over.
pub const STALL: Duration = Duration::from_secs(60);

/// A file on its way here.
pub struct Download {
    /// How many bytes will come, where that is known before.
    pub size: Option<u64>,
    /// The first byte of a part that was asked for, and the size of the whole file.
    pub part: Option<(u64, u64)>,
    body: Incoming,
    /// Closing it ends the transfer.
    _connection: Connection,
}

impl Download {
    /// The next piece; none at the end. A file that is cut while it is read is an error.
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
    /// What a folder of the home holds.
    pub async fn list_files(&self, path: &HomePath) -> Result<FileList, LinkError> {
        let file = OneFile { path: path.clone(), replace: false, range: None };
        let reply = self.call(get(&address(route::FOLDER, &file)?)?, LIST_DEADLINE).await?;
        parsed(&reply.body)
    }

    /// Begins to read a file of the home, or a part of it.
    pub async fn read_file(
        &self,
        path: &HomePath,
        range: Option<ByteRange>,
    ) -> Result<Download, LinkError> {
        let file = OneFile { path: path.clone(), replace: false, range };
        self.download(get(&address(route::FILE, &file)?)?).await
    }

    /// Begins to read the browser's profile; with `last`, the browser is closed first.
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

    /// Puts a file into the home, whole or not at all.
    pub async fn write_file(
        &self,
        file: &OneFile,
        content: Outgoing,
    ) -> Result<FileStored, LinkError> {
        parsed(&self.upload(&address(route::FILE, file)?, content).await?)
    }

    /// Gives the guest the profile of its browser.
    pub async fn load_profile(&self, content: Outgoing) -> Result<(), LinkError> {
        self.upload(route::PROFILE, content).await.map(|_| ())
    }

    /// Gives the guest an extension of its browser.
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

/// Why something could not be sent: the guest's fault, or that of whoever had it.
fn sent(error: hyper::Error) -> LinkError {
    if error.is_user() { LinkError::BrokeOff } else { LinkError::Broken(error) }
}

fn number(value: &HeaderValue) -> Option<u64> {
    value.to_str().ok()?.parse().ok()
}
