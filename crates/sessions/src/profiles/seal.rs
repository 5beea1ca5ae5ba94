//! Sealing files piece by piece. Pure.

use std::io;

use aws_lc_rs::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey},
    hkdf::{HKDF_SHA256, Salt},
};

/// Bytes of the salt of a file.
pub(super) const SALT: usize = 32;
/// What a seal adds to a piece.
pub(super) const OVERHEAD: usize = 16;

/// The key of a server.
pub struct SealingKey([u8; 32]);

impl SealingKey {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut key = [0; 32];
        if text.len() != 64 {
            return None;
        }
        for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).ok()?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(Self(key))
    }

    /// The key of one file.
    fn of_file(&self, salt: &[u8; SALT], place: &[u8]) -> io::Result<LessSafeKey> {
        let secret = Salt::new(HKDF_SHA256, salt).extract(&self.0);
        let context: [&[u8]; 2] = [b"helmdeck profile", place];
        let derived = secret.expand(&context, &CHACHA20_POLY1305);
        let derived = derived.map_err(|_| io::Error::other("no key could be made"))?;
        Ok(LessSafeKey::new(UnboundKey::from(derived)))
    }
}

/// Whose file it is and what it is called, so that no two give the same bytes.
fn place(owner: &str, name: &str) -> Vec<u8> {
    [&(owner.len() as u64).to_be_bytes(), owner.as_bytes(), name.as_bytes()].concat()
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

/// Seals the pieces of a new file.
pub(super) struct Sealer {
    key: LessSafeKey,
    number: u64,
}

impl Sealer {
    pub(super) fn new(key: &SealingKey, owner: &str, name: &str) -> io::Result<(Self, [u8; SALT])> {
        let mut salt = [0; SALT];
        getrandom::fill(&mut salt).map_err(io::Error::other)?;
        Ok((Self { key: key.of_file(&salt, &place(owner, name))?, number: 0 }, salt))
    }

    pub(super) fn seal(&mut self, mut piece: Vec<u8>, last: bool) -> io::Result<Vec<u8>> {
        let nonce = nonce(self.number, last);
        self.number += 1;
        let sealed = self.key.seal_in_place_append_tag(nonce, Aad::empty(), &mut piece);
        sealed.map_err(|_| io::Error::other("it could not be sealed"))?;
        Ok(piece)
    }
}

/// Opens the pieces of a file in their order.
pub(super) struct Opener {
    key: LessSafeKey,
    number: u64,
    done: bool,
}

impl Opener {
    pub(super) fn new(
        key: &SealingKey,
        salt: &[u8; SALT],
        owner: &str,
        name: &str,
    ) -> io::Result<Self> {
        Ok(Self { key: key.of_file(salt, &place(owner, name))?, number: 0, done: false })
    }

    /// Whether the last piece was read.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn open(&mut self, piece: Vec<u8>) -> io::Result<Vec<u8>> {
        for last in [false, true] {
            let mut tried = piece.clone();
            let nonce = nonce(self.number, last);
            if let Ok(opened) = self.key.open_in_place(nonce, Aad::empty(), &mut tried) {
                let length = opened.len();
                tried.truncate(length);
                self.number += 1;
                self.done = last;
                return Ok(tried);
            }
        }
        Err(io::Error::other("it is damaged, or sealed with another key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digit: &str) -> SealingKey {
        SealingKey::parse(&digit.repeat(64)).unwrap()
    }

    fn sealed() -> ([u8; SALT], Vec<Vec<u8>>) {
        let (mut sealer, salt) = Sealer::new(&key("a"), "ann", "work").unwrap();
        let pieces = [("one", false), ("two", false), ("", true)];
        (salt, pieces.map(|(text, last)| sealer.seal(text.into(), last).unwrap()).into())
    }

    #[test]
    fn what_was_sealed_opens_in_its_order_and_says_when_it_ends() {
        let (salt, pieces) = sealed();
        let mut opener = Opener::new(&key("a"), &salt, "ann", "work").unwrap();
        for (piece, (text, done)) in
            pieces.into_iter().zip([("one", false), ("two", false), ("", true)])
        {
            assert_eq!(opener.open(piece).unwrap(), text.as_bytes());
            assert_eq!(opener.is_done(), done);
        }
    }

    #[test]
    fn another_key_owner_name_or_order_does_not_open_it() {
        let (salt, pieces) = sealed();
        for (digit, owner, name) in
            [("b", "ann", "work"), ("a", "bob", "work"), ("a", "ann", "home"), ("a", "annw", "ork")]
        {
            let mut opener = Opener::new(&key(digit), &salt, owner, name).unwrap();
            assert!(opener.open(pieces[0].clone()).is_err(), "{digit} {owner} {name}");
        }
        let mut opener = Opener::new(&key("a"), &salt, "ann", "work").unwrap();
        assert!(opener.open(pieces[1].clone()).is_err());
        let mut flipped = pieces[0].clone();
        flipped[0] ^= 1;
        assert!(opener.open(flipped).is_err());
    }

    #[test]
    fn a_key_is_sixty_four_digits() {
        assert!(SealingKey::parse("0123456789abcdefABCDEF".repeat(3).get(..64).unwrap()).is_some());
        for bad in ["", "abc", &"g".repeat(64), &"ä".repeat(32)] {
            assert!(SealingKey::parse(bad).is_none(), "{bad}");
        }
    }
}
