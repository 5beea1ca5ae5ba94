//! File transfers from and to a session's home. They keep the session busy but do not count as
//! tasks.

use bytes::Bytes;
use helmdeck_link::Outgoing;
use helmdeck_wire::{
    byte_range::ByteRange,
    file::{FileList, FileStored, HomePath},
    guest::OneFile,
};
use serde_json::json;

use crate::{Caller, Session, SessionError, history::Attempt, lifecycle::Lifecycle, session::Task};

/// A file download. Dropping it ends the transfer.
pub struct Download {
    session: Session,
    file: helmdeck_link::Download,
    size: u64,
    /// Remaining bytes.
    left: u64,
    attempt: Attempt,
    _busy: Task,
}

impl Download {
    /// Number of bytes to transfer.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Offset of a requested part, and the size of the whole file.
    pub fn part(&self) -> Option<(u64, u64)> {
        self.file.part
    }

    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, SessionError> {
        let next = self.file.next().await.map_err(|error| self.session.link_failed(error));
        match &next {
            // Clients that know the size do not read past the last piece.
            Ok(Some(piece)) => {
                self.left = self.left.saturating_sub(piece.len() as u64);
                if self.left == 0 {
                    self.attempt.outcome = "ok";
                }
            }
            Ok(None) => self.attempt.outcome = "ok",
            Err(error) => self.attempt.outcome = error.code(),
        }
        next
    }
}

impl Session {
    /// Lists a folder of the home.
    pub async fn list_files(&self, path: &HomePath) -> Result<FileList, SessionError> {
        let _busy = self.admit_file().await?;
        self.inner.link.list_files(path).await.map_err(|error| self.link_failed(error))
    }

    /// Starts to read a file of the home, or a part of it.
    pub async fn read_file(
        &self,
        caller: &Caller,
        path: &HomePath,
        range: Option<ByteRange>,
    ) -> Result<Download, SessionError> {
        let detail = json!({ "path": path });
        let mut attempt = Attempt::named(self, caller.actor(), "file_download", detail);
        let begun = async {
            let busy = self.admit_file().await?;
            let file = self.inner.link.read_file(path, range).await;
            let file = file.map_err(|error| self.link_failed(error))?;
            match file.part {
                Some((first, size)) if first >= size => {
                    Err(SessionError::RangeNotSatisfiable { size })
                }
                _ => Ok((busy, file)),
            }
        };
        match begun.await {
            Ok((busy, file)) => {
                let size = file.size.unwrap_or_default();
                attempt.detail = json!({ "path": path, "size": size });
                if size == 0 {
                    // An empty file is never read.
                    attempt.outcome = "ok";
                }

                Ok(Download { session: self.clone(), file, size, left: size, attempt, _busy: busy })
            }
            Err(error) => {
                attempt.outcome = SessionError::code(&error);
                Err(error)
            }
        }
    }

    /// Stores a file in the home, atomically.
    pub async fn write_file(
        &self,
        caller: &Caller,
        file: &OneFile,
        content: Outgoing,
    ) -> Result<FileStored, SessionError> {
        let detail = json!({ "path": file.path });
        let mut attempt = Attempt::named(self, caller.actor(), "file_upload", detail);
        let stored = async {
            let _busy = self.admit_file().await?;
            let stored = self.inner.link.write_file(file, content).await;
            stored.map_err(|error| self.link_failed(error))
        };
        let stored = stored.await;
        match &stored {
            Ok(stored) => {
                attempt.detail = json!({ "path": stored.path, "size": stored.size });
                attempt.outcome = "ok";
            }
            Err(SessionError::BrokeOff) => {}
            Err(error) => attempt.outcome = error.code(),
        }
        stored
    }

    async fn admit_file(&self) -> Result<Task, SessionError> {
        self.adoption().await;
        self.begin(Lifecycle::begin_use)
    }
}
