//! Browser profiles that outlive their sessions: kept in files, one for each owner and name.
//!
//! A file is a tar archive that only guests read and write. With a key it is sealed piece by piece:
//! the key of a file comes from the server's key and a random salt, so the numbers of its pieces can
//! be their nonces; the last piece is marked, so that a file that was cut is not taken for a whole
//! one, and owner and name are part of every seal, so that a file cannot take another's place.

mod seal;

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use helmdeck_wire::{profile::Profile, session::ProfileName};
use tokio::{
    fs::File,
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};
use tracing::{info, warn};

use crate::{
    Caller, Session, SessionError, Sessions, owner_dirs,
    upload_body::{self, UploadBody},
};
pub use seal::SealingKey;
use seal::{Opener, Sealer};

/// What stands at the beginning of a file, before its kind.
const MAGIC: &[u8; 15] = b"helmdeckprofile";
const PLAIN: u8 = b'0';
const SEALED: u8 = b'1';
/// What is sealed at once.
const PIECE: usize = 256 << 10;
/// A larger profile is not kept: it is not what makes a browser signed in.
const MAX_BYTES: u64 = 512 << 20;
/// More of one owner are not kept.
const MAX_PROFILES: usize = 100;
/// How long a profile may take from or to a guest.
const DEADLINE: Duration = Duration::from_secs(60);
/// How long the end of a session waits for its profile.
const LAST_DEADLINE: Duration = Duration::from_secs(18);

/// Where profiles are kept, and how.
#[derive(Clone)]
pub struct Profiles {
    dir: PathBuf,
    key: Option<Arc<SealingKey>>,
}

impl Profiles {
    /// Profiles in this directory, sealed if there is a key.
    pub fn new(dir: PathBuf, key: Option<SealingKey>) -> Self {
        Self { dir, key: key.map(Arc::new) }
    }

    /// Removes what a server that crashed was writing.
    pub(crate) async fn sweep(&self) {
        owner_dirs::sweep(&self.dir).await;
    }

    fn path(&self, owner: &str, name: &ProfileName) -> PathBuf {
        self.dir_of(owner).join(name.as_str())
    }

    fn dir_of(&self, owner: &str) -> PathBuf {
        owner_dirs::dir_of(&self.dir, owner)
    }

    /// What is kept for an owner.
    async fn list(&self, owner: &str) -> io::Result<Vec<Profile>> {
        let mut found = Vec::new();
        for entry in owner_dirs::entries(&self.dir_of(owner)).await? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let facts = entry.metadata().await?;
            let kept_at = facts.modified()?.into();
            found.push(Profile { name, size: facts.len(), kept_at });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The profile, piece by piece; none if it is new.
    async fn open(&self, owner: &str, name: &ProfileName) -> io::Result<Option<Reader>> {
        let mut file = match File::open(self.path(owner, name)).await {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut head = [0; MAGIC.len() + 1];
        file.read_exact(&mut head).await?;
        let opener = match (head.split_last(), &self.key) {
            (Some((&PLAIN, magic)), None) if magic == MAGIC => None,
            (Some((&PLAIN, magic)), Some(_)) if magic == MAGIC => {
                let why =
                    "it is not sealed, and HELMDECK_PROFILE_KEY is set: remove it, or the key";
                return Err(io::Error::other(why));
            }
            (Some((&SEALED, magic)), Some(key)) if magic == MAGIC => {
                let mut salt = [0; seal::SALT];
                file.read_exact(&mut salt).await?;
                Some(Opener::new(key, &salt, owner, name.as_str())?)
            }
            (Some((&SEALED, magic)), None) if magic == MAGIC => {
                return Err(io::Error::other("it is sealed, and HELMDECK_PROFILE_KEY is not set"));
            }
            _ => return Err(io::Error::other("it is no profile")),
        };
        Ok(Some(Reader { file, opener }))
    }

    async fn create(&self, owner: &str, name: &ProfileName) -> io::Result<Writer> {
        let path = self.path(owner, name);
        if !path.exists() && self.list(owner).await?.len() >= MAX_PROFILES {
            return Err(io::Error::other("there are 100 of them already: delete one"));
        }
        let dir = path.parent().map(ToOwned::to_owned).unwrap_or_default();
        tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).await?;
        // One session has a profile at a time, so nobody else writes this.
        let unfinished = path.with_extension("new~");
        let mut options = tokio::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = file.open(&unfinished).await?;
        file.write_all(MAGIC).await?;
        let sealer = match &self.key {
            None => {
                file.write_all(&[PLAIN]).await?;
                None
            }
            Some(key) => {
                let (sealer, salt) = Sealer::new(key, owner, name.as_str())?;
                file.write_all(&[SEALED]).await?;
                file.write_all(&salt).await?;
                Some(sealer)
            }
        };
        Ok(Writer { file, sealer, path, unfinished, waiting: Vec::new(), size: 0 })
    }
}

/// A profile that is read.
struct Reader {
    file: File,
    opener: Option<Opener>,
}

impl UploadBody for Reader {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let Some(opener) = &mut self.opener else {
            let mut piece = vec![0; PIECE];
            let read = self.file.read(&mut piece).await?;
            piece.truncate(read);
            return Ok((read > 0).then(|| piece.into()));
        };
        if opener.is_done() {
            return Ok(None);
        }
        let length = self.file.read_u32().await? as usize;
        if length > PIECE + seal::OVERHEAD {
            return Err(io::Error::other("it is damaged"));
        }
        let mut piece = vec![0; length];
        self.file.read_exact(&mut piece).await?;
        opener.open(piece).map(|piece| Some(piece.into()))
    }
}

/// A profile that is written; it takes the old one's place when it is complete.
struct Writer {
    file: File,
    sealer: Option<Sealer>,
    path: PathBuf,
    unfinished: PathBuf,
    waiting: Vec<u8>,
    size: u64,
}

impl Writer {
    async fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.size += bytes.len() as u64;
        if self.size > MAX_BYTES {
            return Err(io::Error::other("it is larger than 512 MB"));
        }
        self.waiting.extend_from_slice(bytes);
        while self.waiting.len() > PIECE {
            let rest = self.waiting.split_off(PIECE);
            let piece = std::mem::replace(&mut self.waiting, rest);
            self.write(piece, false).await?;
        }
        Ok(())
    }

    async fn write(&mut self, piece: Vec<u8>, last: bool) -> io::Result<()> {
        match &mut self.sealer {
            None => self.file.write_all(&piece).await,
            Some(sealer) => {
                let sealed = sealer.seal(piece, last)?;
                let length = u32::try_from(sealed.len()).map_err(io::Error::other)?;
                self.file.write_u32(length).await?;
                self.file.write_all(&sealed).await
            }
        }
    }

    async fn finish(mut self) -> io::Result<u64> {
        let rest = std::mem::take(&mut self.waiting);
        self.write(rest, true).await?;
        self.file.flush().await?;
        self.file.sync_all().await?;
        tokio::fs::rename(&self.unfinished, &self.path).await?;
        Ok(self.size)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Not there any more if it was finished.
        let _ = std::fs::remove_file(&self.unfinished);
    }
}

impl Session {
    fn profile(&self) -> Option<&ProfileName> {
        self.inner.record.spec.profile.as_ref()
    }

    /// Whether it has this profile of this owner, until nothing of it is left.
    pub(crate) fn holds_profile(&self, owner: &str, name: &ProfileName) -> bool {
        self.inner.record.owner == owner && self.profile() == Some(name) && !self.is_stopped()
    }

    /// Gives the guest its profile, before it begins. One that does not exist yet is empty.
    pub(crate) async fn load_profile(&self, profiles: &Profiles) -> Result<(), String> {
        let Some(name) = self.profile() else { return Ok(()) };
        let failed = |why: String| format!("profile {name:?} cannot be used: {why}");
        let reader = profiles.open(&self.inner.record.owner, name).await;
        let Some(reader) = reader.map_err(|error| failed(error.to_string()))? else {
            return Ok(());
        };
        let (sender, body) = upload_body::body();
        let sending = self.inner.link.load_profile(body);
        upload_body::send(reader, sender, sending, DEADLINE).await.map_err(failed)
    }

    /// Keeps the profile as it is now; with `last`, the browser is closed first.
    pub(crate) async fn save_profile(&self, profiles: &Profiles, last: bool) {
        let Some(name) = self.profile() else { return };
        let deadline = if last { LAST_DEADLINE } else { DEADLINE };
        let id = self.id().as_str();
        match timeout(deadline, self.try_save(profiles, name, last)).await {
            Ok(Ok(bytes)) => info!(session.id = id, profile = name.as_str(), bytes, "Profile kept"),
            Ok(Err(error)) => {
                warn!(session.id = id, profile = name.as_str(), error, "Profile was not kept");
            }
            Err(_) => warn!(session.id = id, profile = name.as_str(), "Profile took too long"),
        }
    }

    async fn try_save(
        &self,
        profiles: &Profiles,
        name: &ProfileName,
        last: bool,
    ) -> Result<u64, String> {
        let said = |error: io::Error| error.to_string();
        let download = self.inner.link.save_profile(last).await;
        let mut download = download.map_err(|error| error.to_string())?;
        let mut writer = profiles.create(&self.inner.record.owner, name).await.map_err(said)?;
        while let Some(piece) = download.next().await.map_err(|error| error.to_string())? {
            writer.add(&piece).await.map_err(said)?;
        }
        writer.finish().await.map_err(said)
    }
}

impl Sessions {
    /// The caller's profiles.
    pub async fn profiles(&self, caller: &Caller) -> Result<Vec<Profile>, SessionError> {
        self.profile_store().list(&caller.subject).await.map_err(SessionError::Profiles)
    }

    /// Deletes a profile of the caller's, unless a session has it.
    pub async fn delete_profile(
        &self,
        caller: &Caller,
        name: &ProfileName,
    ) -> Result<(), SessionError> {
        self.ensure_profile_free(caller, name)?;
        match tokio::fs::remove_file(self.profile_store().path(&caller.subject, name)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(SessionError::Profiles(error))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a profile that a session has.
pub(crate) fn ensure_free(
    sessions: &[Session],
    owner: &str,
    wanted: Option<&ProfileName>,
) -> Result<(), SessionError> {
    let Some(name) = wanted else { return Ok(()) };
    match sessions.iter().find(|session| session.holds_profile(owner, name)) {
        Some(session) => {
            Err(SessionError::ProfileInUse { name: name.clone(), id: session.id().clone() })
        }
        None => Ok(()),
    }
}
