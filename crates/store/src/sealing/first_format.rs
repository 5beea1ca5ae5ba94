//! Opens profiles that were sealed before STREAM. This format is no longer written.
//!
//! ChaCha20-Poly1305 with a key per file, derived by HKDF from the server's key, a random salt,
//! owner and name. The nonce of a piece is its number and a flag for the last one. Each piece is
//! preceded by its length.

use std::io;

use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey},
    hkdf::{HKDF_SHA256, Salt},
};

use super::{SealingKey, damaged, place};

/// Length of a file's salt.
pub(crate) const SALT: usize = 32;

/// Opens the pieces of a file in order.
pub(crate) struct Opener {
    key: LessSafeKey,
    number: u64,
    done: bool,
}

impl Opener {
    pub fn new(key: &SealingKey, salt: &[u8; SALT], owner: &str, name: &str) -> io::Result<Self> {
        let secret = Salt::new(HKDF_SHA256, salt).extract(&key.0);
        let place = place(owner, name);
        let context: [&[u8]; 2] = [b"helmdeck profile", &place];
        let derived = secret.expand(&context, &CHACHA20_POLY1305);
        let derived = derived.map_err(|_| io::Error::other("the key could not be derived"))?;
        let key = LessSafeKey::new(UnboundKey::from(derived));
        Ok(Self { key, number: 0, done: false })
    }

    /// Whether the last piece was opened.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Opens a piece, and detects whether it is the last.
    pub fn open(&mut self, piece: &[u8]) -> io::Result<Vec<u8>> {
        for last in [false, true] {
            let mut tried = piece.to_vec();
            let nonce = nonce(self.number, last);
            if let Ok(opened) = self.key.open_in_place(nonce, Aad::empty(), &mut tried) {
                let length = opened.len();
                tried.truncate(length);
                self.number += 1;
                self.done = last;
                return Ok(tried);
            }
        }
        Err(damaged())
    }
}

/// The nonce of a piece: its number, and whether it is the last.
fn nonce(number: u64, last: bool) -> Nonce {
    let mut bytes = [0; 12];
    let (front, back) = bytes.split_at_mut(4);
    if let Some(mark) = front.first_mut() {
        *mark = u8::from(last);
    }
    back.copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}
