//! Browser extensions that sessions can be created with: kept in files, one for each owner and name.
//!
//! A file is a line of JSON that says what it holds, and a tar archive that guests unpack. What was
//! uploaded is checked and repacked here; nothing on the host ever unpacks it into files.

mod archive;
mod package;
mod turns;

use std::{
    io,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;
use helmdeck_link::{Outgoing, STALL};
use helmdeck_wire::{
    extension::{Extension, ExtensionName},
    session::SessionSpec,
};
use http_body_util::BodyExt;
use time::OffsetDateTime;
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    time::timeout,
};
use tracing::info;

use crate::{
    Caller, Session, SessionError, Sessions, owner_dirs,
    spec::invalid,
    upload_body::{self, UploadBody},
};
use package::{BadPackage, Package};
use turns::{Turn, Turns};

/// The largest upload.
const MAX_UPLOAD: u64 = 64 << 20;
/// More of one owner are not kept, nor more bytes.
const MAX_EXTENSIONS: usize = 50;
const MAX_BYTES: u64 = 1 << 30;
/// The line of JSON before the archive is far shorter.
const MAX_FACTS: u64 = 16 << 10;
const PIECE: usize = 256 << 10;
/// How long an extension may take to a guest.
const DEADLINE: Duration = Duration::from_secs(60);

/// Where extensions are kept.
#[derive(Clone)]
pub struct Extensions {
    dir: PathBuf,
    turns: Turns,
}

/// A file that is removed unless it was put into its place.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Not there any more if it was finished.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Extensions {
    /// Extensions in this directory.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, turns: Turns::default() }
    }

    /// Removes what a server that crashed was writing.
    pub(crate) async fn sweep(&self) {
        owner_dirs::sweep(&self.dir).await;
    }

    fn dir_of(&self, owner: &str) -> PathBuf {
        owner_dirs::dir_of(&self.dir, owner)
    }

    fn path(&self, owner: &str, name: &ExtensionName) -> PathBuf {
        self.dir_of(owner).join(name.as_str())
    }

    /// What is kept for an owner.
    async fn list(&self, owner: &str) -> io::Result<Vec<Extension>> {
        let mut found = Vec::new();
        for entry in owner_dirs::entries(&self.dir_of(owner)).await? {
            match open(entry.path()).await {
                Ok((extension, _)) => found.push(extension),
                // Deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        found.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
        Ok(found)
    }

    /// Bytes that an extension of this name may have.
    async fn room(&self, owner: &str, name: &ExtensionName) -> Result<u64, SessionError> {
        let kept = self.list(owner).await.map_err(SessionError::Extensions)?;
        let others: Vec<u64> =
            kept.iter().filter(|other| other.name != *name).map(|other| other.size).collect();
        if others.len() >= MAX_EXTENSIONS {
            return Err(SessionError::TooManyExtensions);
        }
        Ok(MAX_BYTES.saturating_sub(others.iter().sum()))
    }

    /// Takes an upload to a file of its own, and no more of it than is allowed.
    async fn receive(
        &self,
        owner: &str,
        name: &ExtensionName,
        mut upload: Outgoing,
    ) -> Result<Unfinished, SessionError> {
        static UPLOADS: AtomicU64 = AtomicU64::new(0);
        let dir = self.dir_of(owner);
        let mut builder = tokio::fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(&dir).await;
        made.map_err(SessionError::Extensions)?;
        // Two may come at once.
        let number = UPLOADS.fetch_add(1, Ordering::Relaxed);
        let received = Unfinished(dir.join(format!("{}.{number}.upload~", name.as_str())));
        let mut options = tokio::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = file.open(&received.0).await.map_err(SessionError::Extensions)?;
        let mut size = 0;
        loop {
            let frame = timeout(STALL, upload.frame()).await.map_err(|_| SessionError::BrokeOff)?;
            let Some(frame) = frame else { break };
            let Ok(piece) = frame.map_err(|_| SessionError::BrokeOff)?.into_data() else {
                continue;
            };
            size += piece.len() as u64;
            if size > MAX_UPLOAD {
                return Err(SessionError::ExtensionTooLarge { limit: MAX_UPLOAD });
            }
            file.write_all(&piece).await.map_err(SessionError::Extensions)?;
        }
        file.flush().await.map_err(SessionError::Extensions)?;
        Ok(received)
    }
}

/// What an extension is, and its archive.
async fn open(path: PathBuf) -> io::Result<(Extension, Archive)> {
    let mut file = BufReader::new(File::open(path).await?);
    let mut facts = Vec::new();
    (&mut file).take(MAX_FACTS).read_until(b'\n', &mut facts).await?;
    Ok((serde_json::from_slice(&facts)?, Archive(file)))
}

/// Checks what was received, and puts it as an archive into its place. The room is of this turn.
fn repack(
    received: &Unfinished,
    path: &PathBuf,
    name: &ExtensionName,
    room: u64,
    _turn: Turn,
) -> Result<Extension, BadPackage> {
    let mut package = Package::open(std::fs::File::open(&received.0)?)?;
    if package.size() > room {
        return Err(BadPackage::NoRoom);
    }
    let manifest = package.manifest()?;
    let extension = Extension {
        name: name.clone(),
        title: manifest.title,
        version: manifest.version,
        manifest_version: manifest.manifest_version,
        size: package.size(),
        files: package.files(),
        added_at: OffsetDateTime::now_utc(),
    };
    let unfinished = Unfinished(received.0.with_extension("new~"));
    let mut file = io::BufWriter::new(std::fs::File::create(&unfinished.0)?);
    serde_json::to_writer(&mut file, &extension).map_err(io::Error::from)?;
    io::Write::write_all(&mut file, b"\n")?;
    package.write_to(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    std::fs::rename(&unfinished.0, path)?;
    Ok(extension)
}

/// The archive of an extension that is read.
struct Archive(BufReader<File>);

impl UploadBody for Archive {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let mut piece = vec![0; PIECE];
        let read = self.0.read(&mut piece).await?;
        piece.truncate(read);
        Ok((read > 0).then(|| piece.into()))
    }
}

impl Session {
    /// Gives the guest its extensions, before it begins.
    pub(crate) async fn load_extensions(&self, extensions: &Extensions) -> Result<(), String> {
        for name in &self.inner.record.spec.extensions {
            let failed =
                |why: String| format!("extension {:?} cannot be used: {why}", name.as_str());
            let path = extensions.path(&self.inner.record.owner, name);
            let (_, archive) = open(path).await.map_err(|error| failed(error.to_string()))?;
            let (sender, body) = upload_body::body();
            let sending = self.inner.link.load_extension(name, body);
            upload_body::send(archive, sender, sending, DEADLINE).await.map_err(failed)?;
        }
        Ok(())
    }
}

impl Sessions {
    /// The caller's extensions.
    pub async fn extensions(&self, caller: &Caller) -> Result<Vec<Extension>, SessionError> {
        self.extension_store().list(&caller.subject).await.map_err(SessionError::Extensions)
    }

    /// Adds an extension of the caller's, or puts it in another's place.
    pub async fn add_extension(
        &self,
        caller: &Caller,
        name: &ExtensionName,
        upload: Outgoing,
    ) -> Result<Extension, SessionError> {
        let (store, owner) = (self.extension_store(), &caller.subject);
        let place = store.turns.begin(owner)?;
        // Nothing is received that could not be kept.
        store.room(owner, name).await?;
        let received = store.receive(owner, name, upload).await?;
        // Others may have been received meanwhile; now no other of this owner's is kept.
        let turn = place.turn().await;
        let room = store.room(owner, name).await?;
        let (path, named) = (store.path(owner, name), name.clone());
        let repacking = move || repack(&received, &path, &named, room, turn);
        let packed = tokio::task::spawn_blocking(repacking).await;
        let packed = packed.map_err(|e| SessionError::Extensions(io::Error::other(e)))?;
        let extension = packed.map_err(|bad| match bad {
            BadPackage::Io(error) => SessionError::Extensions(error),
            BadPackage::Wrong(why) => SessionError::BadExtension(why),
            BadPackage::NoRoom => SessionError::TooManyExtensions,
        })?;
        let (name, bytes) = (name.as_str(), extension.size);
        info!(owner, extension = name, bytes, "Extension added");
        Ok(extension)
    }

    /// Deletes an extension of the caller's. Sessions that have it keep it.
    pub async fn delete_extension(
        &self,
        caller: &Caller,
        name: &ExtensionName,
    ) -> Result<(), SessionError> {
        match tokio::fs::remove_file(self.extension_store().path(&caller.subject, name)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(SessionError::Extensions(error))
            }
            _ => Ok(()),
        }
    }

    /// Fails if the spec names an extension that the caller does not have.
    pub(crate) fn ensure_extensions(
        &self,
        caller: &Caller,
        spec: &SessionSpec,
    ) -> Result<(), SessionError> {
        let store = self.extension_store();
        let missing = |name: &&ExtensionName| !store.path(&caller.subject, name).is_file();
        match spec.extensions.iter().find(missing) {
            None => Ok(()),
            Some(name) => {
                let name = name.as_str();
                Err(invalid("extensions", format!("you have none called {name:?}: add it first")))
            }
        }
    }
}
