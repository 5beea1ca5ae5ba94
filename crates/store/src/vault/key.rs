//! The vault's key: where it comes from, and what is derived from it.

use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305,
    aead::{Aead, Payload},
};
use ring::hmac::{self, HMAC_SHA256};

use super::VaultError;
use crate::{StoreError, sealing::parse_key};

/// Length of a nonce, which precedes the encrypted secret.
const NONCE: usize = 24;
/// Digits of a fingerprint.
const FINGERPRINT: usize = 16;

/// Where the key comes from.
pub enum KeySource {
    /// The configuration.
    Configured(Box<VaultKey>),
    /// A file, which is created with the first key.
    File(PathBuf),
}

/// A key, and the keys derived from it for each purpose.
pub struct VaultKey {
    master: [u8; 32],
    cipher: XChaCha20Poly1305,
    fingerprint: hmac::Key,
    /// Tells keys apart without revealing them.
    pub(super) id: String,
}

/// What a sealed secret belongs to. A secret cannot be opened as another's.
pub(super) struct Place<'a> {
    pub id: &'a str,
    pub owner: &'a str,
    pub name: &'a str,
    pub kind: &'a str,
    pub host_pattern: &'a str,
    pub path_pattern: Option<&'a str>,
}

impl Place<'_> {
    /// The fields as unambiguous bytes.
    fn bytes(&self) -> Vec<u8> {
        let path = self.path_pattern.unwrap_or_default();
        let fields = [self.id, self.owner, self.name, self.kind, self.host_pattern, path];
        let mut bytes = b"helmdeck vault 1".to_vec();
        for field in fields {
            bytes.extend((field.len() as u64).to_be_bytes());
            bytes.extend(field.as_bytes());
        }
        bytes
    }
}

impl VaultKey {
    /// Parses 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        parse_key(text.trim()).map(Self::new)
    }

    /// A random key.
    pub(super) fn generate() -> Result<Self, VaultError> {
        let mut master = [0; 32];
        getrandom::fill(&mut master).map_err(StoreError::Random)?;
        Ok(Self::new(master))
    }

    /// The key in a file.
    pub fn read(path: &Path) -> Result<Self, VaultError> {
        let failed = |source| VaultError::File { path: path.to_owned(), source };
        let text = fs::read_to_string(path).map_err(failed)?;
        Self::parse(&text).ok_or_else(|| VaultError::KeyMalformed { path: path.to_owned() })
    }

    fn new(master: [u8; 32]) -> Self {
        let root = hmac::Key::new(HMAC_SHA256, &master);
        let derived = |purpose: &str| {
            let mut key = [0; 32];
            key.copy_from_slice(hmac::sign(&root, purpose.as_bytes()).as_ref());
            key
        };
        Self {
            cipher: XChaCha20Poly1305::new(&derived("helmdeck vault seal").into()),
            fingerprint: hmac::Key::new(HMAC_SHA256, &derived("helmdeck vault fingerprint")),
            id: hex(&derived("helmdeck vault key id")).chars().take(32).collect(),
            master,
        }
    }

    /// Encrypts a secret: a random nonce, then the ciphertext.
    pub(super) fn seal(&self, place: &Place<'_>, secret: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(StoreError::Random)?;
        let aad = place.bytes();
        let sealed = self.cipher.encrypt(&nonce.into(), Payload { msg: secret, aad: &aad });
        let damaged = |_| VaultError::Damaged { id: place.id.to_owned() };
        Ok([nonce.as_slice(), &sealed.map_err(damaged)?].concat())
    }

    /// Decrypts a secret. Fails if it was changed, moved, or sealed with another key.
    pub(super) fn open(&self, place: &Place<'_>, sealed: &[u8]) -> Result<Vec<u8>, VaultError> {
        let damaged = || VaultError::Damaged { id: place.id.to_owned() };
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or_else(damaged)?;
        let aad = place.bytes();
        let opened = self.cipher.decrypt(&(*nonce).into(), Payload { msg: sealed, aad: &aad });
        opened.map_err(|_| damaged())
    }

    /// A short value that differs for different secrets, which cannot be guessed without the key.
    pub(super) fn fingerprint(&self, secret: &[u8]) -> String {
        let digest = hmac::sign(&self.fingerprint, secret);
        hex(digest.as_ref()).chars().take(FINGERPRINT).collect()
    }

    fn text(&self) -> String {
        hex(&self.master)
    }
}

/// Hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The file with the next key, while the vault is sealed with it.
fn next(path: &Path) -> PathBuf {
    path.with_extension("key.new")
}

/// The key in a file, if it exists. `newest` is the id of the key that sealed the vault: if a change
/// of the key was interrupted after that, it is completed.
pub(super) fn kept(path: &Path, newest: Option<&str>) -> Result<Option<VaultKey>, VaultError> {
    let new = next(path);
    if let (Some(newest), Ok(key)) = (newest, VaultKey::read(&new))
        && key.id == newest
    {
        replace(path)?;
        return Ok(Some(key));
    }
    match VaultKey::read(path) {
        Err(VaultError::File { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Creates the file with a key, unless it exists, and returns the key in it.
pub(super) fn create(path: &Path) -> Result<VaultKey, VaultError> {
    let key = VaultKey::generate()?;
    write_next(path, &key)?;
    let linked = fs::hard_link(next(path), path);
    let removed = fs::remove_file(next(path));
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => removed,
    }
    .map_err(|source| VaultError::File { path: path.to_owned(), source })?;
    VaultKey::read(path)
}

/// Writes the next key beside the current one.
pub(super) fn write_next(path: &Path, key: &VaultKey) -> Result<(), VaultError> {
    let new = next(path);
    let write = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&new)?;
        file.write_all(key.text().as_bytes())?;
        file.sync_all()?;
        sync_dir(path)
    };
    write().map_err(|source| VaultError::File { path: new.clone(), source })
}

/// Makes the next key the current one.
pub(super) fn replace(path: &Path) -> Result<(), VaultError> {
    let replaced = fs::rename(next(path), path).and_then(|()| sync_dir(path));
    replaced.map_err(|source| VaultError::File { path: path.to_owned(), source })
}

fn sync_dir(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(dir) => File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place<'static> = Place {
        id: "cred_1",
        owner: "ann",
        name: "a",
        kind: "api_key",
        host_pattern: "a.example",
        path_pattern: None,
    };

    #[test]
    fn a_secret_opens_only_with_its_key_in_its_place_and_unchanged() {
        let (key, other) =
            (VaultKey::parse(&"a".repeat(64)).unwrap(), VaultKey::parse(&"b".repeat(64)).unwrap());
        let sealed = key.seal(&PLACE, b"hunter2").unwrap();
        assert_eq!(key.open(&PLACE, &sealed).unwrap(), b"hunter2");
        assert!(other.open(&PLACE, &sealed).is_err());
        for place in [
            Place { id: "cred_2", ..PLACE },
            Place { owner: "bob", ..PLACE },
            Place { host_pattern: "evil.example", ..PLACE },
            Place { path_pattern: Some("/"), ..PLACE },
            Place { owner: "an", name: "na", ..PLACE },
        ] {
            assert!(key.open(&place, &sealed).is_err());
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(key.open(&PLACE, &changed).is_err(), "byte {at}");
        }
        assert!(key.open(&PLACE, &sealed[..20]).is_err());
        assert_ne!(key.seal(&PLACE, b"hunter2").unwrap(), sealed, "nonces differ");
    }

    #[test]
    fn fingerprints_depend_on_the_key() {
        let (key, other) =
            (VaultKey::parse(&"a".repeat(64)).unwrap(), VaultKey::parse(&"b".repeat(64)).unwrap());
        assert_eq!(key.fingerprint(b"x"), key.fingerprint(b"x"));
        assert_ne!(key.fingerprint(b"x"), key.fingerprint(b"y"));
        assert_ne!(key.fingerprint(b"x"), other.fingerprint(b"x"));
        assert_eq!(key.fingerprint(b"x").len(), 16);
    }
}
