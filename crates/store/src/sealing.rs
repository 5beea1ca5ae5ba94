//! Encrypts files in pieces: XChaCha20-Poly1305 in the STREAM construction. Pure.
//!
//! A sealed file is a random nonce and its pieces. Every piece but the last has [`PIECE`] bytes, so
//! lengths are not stored. STREAM puts the number of a piece, and whether it is the last one, into
//! the nonce: pieces cannot be truncated, added, swapped or repeated. Owner and name of the file
//! are associated data of every piece, so that a file cannot replace another.

pub(crate) mod first_format;

use std::io;

use aead_stream::{DecryptorBE32, EncryptorBE32, Key, Nonce, StreamBE32};
use chacha20poly1305::XChaCha20Poly1305;

/// Size of a piece.
pub(crate) const PIECE: usize = 256 << 10;
/// Size of a full piece with its authentication tag.
pub(crate) const SEALED_PIECE: usize = PIECE + 16;
/// Length of a file's nonce, without the five bytes that STREAM adds.
pub(crate) const NONCE: usize = 19;

/// The server's key.
pub struct SealingKey([u8; 32]);

impl SealingKey {
    /// Parses 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        parse_key(text).map(Self)
    }

    fn cipher_key(&self) -> Key<XChaCha20Poly1305> {
        self.0.into()
    }
}

/// Parses 64 hexadecimal digits.
pub(crate) fn parse_key(text: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).ok()?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(key)
}

/// Owner and name as unambiguous bytes.
fn place(owner: &str, name: &str) -> Vec<u8> {
    [&(owner.len() as u64).to_be_bytes(), owner.as_bytes(), name.as_bytes()].concat()
}

/// Seals the pieces of a new file.
pub(crate) struct Sealer {
    /// `None` after the last piece.
    stream: Option<EncryptorBE32<XChaCha20Poly1305>>,
    place: Vec<u8>,
}

impl Sealer {
    /// A sealer, and the nonce to write before the pieces.
    pub fn new(key: &SealingKey, owner: &str, name: &str) -> io::Result<(Self, [u8; NONCE])> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let stream = EncryptorBE32::new(&key.cipher_key(), &nonce_of(nonce));
        Ok((Self { stream: Some(stream), place: place(owner, name) }, nonce))
    }

    /// Seals a piece. Nothing can be sealed after the last one.
    pub fn seal(&mut self, mut piece: Vec<u8>, last: bool) -> io::Result<Vec<u8>> {
        let sealed = match (&mut self.stream, last) {
            (Some(stream), false) => stream.encrypt_next_in_place(&self.place, &mut piece),
            (stream, _) => match stream.take() {
                Some(stream) => stream.encrypt_last_in_place(&self.place, &mut piece),
                None => Err(aead_stream::aead::Error),
            },
        };
        sealed.map_err(|_| io::Error::other("the piece could not be sealed"))?;
        Ok(piece)
    }
}

/// Opens the pieces of a file in order.
pub(crate) struct Opener {
    /// `None` after the last piece.
    stream: Option<DecryptorBE32<XChaCha20Poly1305>>,
    place: Vec<u8>,
}

impl Opener {
    pub fn new(key: &SealingKey, nonce: [u8; NONCE], owner: &str, name: &str) -> Self {
        let stream = DecryptorBE32::new(&key.cipher_key(), &nonce_of(nonce));
        Self { stream: Some(stream), place: place(owner, name) }
    }

    /// Opens a piece. `last` tells whether the file ends with it.
    pub fn open(&mut self, mut piece: Vec<u8>, last: bool) -> io::Result<Vec<u8>> {
        let opened = match (&mut self.stream, last) {
            (Some(stream), false) => stream.decrypt_next_in_place(&self.place, &mut piece),
            (stream, _) => match stream.take() {
                Some(stream) => stream.decrypt_last_in_place(&self.place, &mut piece),
                None => Err(aead_stream::aead::Error),
            },
        };
        opened.map_err(|_| damaged())?;
        Ok(piece)
    }
}

fn nonce_of(bytes: [u8; NONCE]) -> Nonce<XChaCha20Poly1305, StreamBE32<XChaCha20Poly1305>> {
    bytes.into()
}

/// The error for a file that cannot be opened.
pub(crate) fn damaged() -> io::Error {
    io::Error::other("the file is damaged, or sealed with another key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_sixty_four_digits() {
        assert!(SealingKey::parse("0123456789abcdefABCDEF".repeat(3).get(..64).unwrap()).is_some());
        for bad in ["", "abc", &"g".repeat(64), &"ä".repeat(32)] {
            assert!(SealingKey::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn nothing_is_sealed_or_opened_after_the_last_piece() {
        let key = SealingKey::parse(&"a".repeat(64)).unwrap();
        let (mut sealer, nonce) = Sealer::new(&key, "ann", "work").unwrap();
        let last = sealer.seal(b"all".to_vec(), true).unwrap();
        assert!(sealer.seal(b"more".to_vec(), false).is_err());
        assert!(sealer.seal(b"more".to_vec(), true).is_err());
        let mut opener = Opener::new(&key, nonce, "ann", "work");
        assert_eq!(opener.open(last.clone(), true).unwrap(), b"all");
        assert!(opener.open(last.clone(), false).is_err());
        assert!(opener.open(last, true).is_err());
    }
}
