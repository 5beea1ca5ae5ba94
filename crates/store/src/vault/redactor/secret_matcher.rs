//! Finds one secret at one position, in any spelling. Pure.

use std::collections::BTreeSet;

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE},
};

/// The shortest part of base64 that is searched for.
const MIN_BASE64: usize = 6;
/// How many steps a comparison may take. Only made-up secrets need more than a few for each byte.
const FUEL: usize = 1 << 20;

/// A byte string to find: a secret, or a part of its base64.
#[derive(Clone)]
pub(super) struct SecretMatcher(Vec<u8>);

/// Whether something begins with a matcher.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    None,
    /// More bytes are needed to tell.
    Begun,
    /// It does, with this length.
    Whole(usize),
}

impl SecretMatcher {
    /// The matchers of a secret.
    pub fn of(secret: &[u8]) -> Vec<Self> {
        let mut found: BTreeSet<Vec<u8>> = BTreeSet::from([secret.to_vec()]);
        for engine in [&BASE64_STANDARD, &BASE64_URL_SAFE] {
            found.insert(engine.encode(secret).into_bytes());
            // Inside of longer base64, the bytes before it shift the digits, and the digits at both
            // ends also depend on its neighbours.
            for before in 0..3 {
                let shifted = engine.encode([vec![0; before], secret.to_vec()].concat());
                let whole = (before * 8).div_ceil(6)..((before + secret.len()) * 8) / 6;
                let digits = shifted.as_bytes().get(whole).unwrap_or_default();
                if digits.len() >= MIN_BASE64 {
                    found.insert(digits.to_vec());
                }
            }
        }
        found.into_iter().map(Self).collect()
    }

    /// Whether an occurrence can begin with this byte.
    pub fn starts_with(&self, byte: u8) -> bool {
        let first = self.0.first().copied().unwrap_or_default();
        byte == first || matches!(byte, b'%' | b'\\') || (byte == b'+' && first == b' ')
    }

    /// Whether `bytes` begin with it. `last` tells that no more bytes follow.
    pub fn at_start_of(&self, bytes: &[u8], last: bool) -> Match {
        let mut fuel = FUEL;
        self.compare(bytes, 0, 0, last, &mut fuel)
    }

    /// Compares from byte `at` of the text and byte `done` of the matcher on.
    fn compare(
        &self,
        bytes: &[u8],
        mut at: usize,
        mut done: usize,
        last: bool,
        fuel: &mut usize,
    ) -> Match {
        let mut begun = false;
        loop {
            let wanted = self.0.get(done..).unwrap_or_default();
            let Some(first) = wanted.first() else {
                return if begun { Match::Begun } else { Match::Whole(at) };
            };
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(byte) = rest.first() else {
                return if last { Match::None } else { Match::Begun };
            };
            *fuel = fuel.saturating_sub(1);
            if *fuel == 0 {
                return Match::None;
            }
            let plain = byte == first;
            match escaped(rest, wanted) {
                Escape::Whole { length, stands_for } => {
                    if !plain {
                        (at, done) = (at + length, done + stands_for);
                        continue;
                    }
                    // A secret with `%25` or `\\` in it: both readings are tried.
                    match self.compare(bytes, at + length, done + stands_for, last, fuel) {
                        Match::None => {}
                        Match::Begun => begun = true,
                        whole => return whole,
                    }
                }
                Escape::Begun if !last => {
                    if !plain {
                        return Match::Begun;
                    }
                    begun = true;
                }
                Escape::Begun | Escape::None if !plain => {
                    return if begun { Match::Begun } else { Match::None };
                }
                Escape::Begun | Escape::None => {}
            }
            (at, done) = (at + 1, done + 1);
        }
    }
}

/// Whether text begins with an escaped spelling.
enum Escape {
    None,
    Begun,
    /// `length` bytes that stand for the next bytes of the matcher.
    Whole {
        length: usize,
        stands_for: usize,
    },
}

/// Whether `text` begins with an escape that stands for the beginning of `wanted`.
fn escaped(text: &[u8], wanted: &[u8]) -> Escape {
    let one = |length, byte: Option<u8>| match byte {
        Some(byte) if wanted.first() == Some(&byte) => Escape::Whole { length, stands_for: 1 },
        _ => Escape::None,
    };
    match text {
        [b'+', ..] => one(1, Some(b' ')),
        [b'%', high, low, ..] => one(3, hex(&[*high, *low]).and_then(|it| u8::try_from(it).ok())),
        [b'%', rest @ ..] if rest.iter().all(u8::is_ascii_hexdigit) => Escape::Begun,
        [b'\\', b'u', ..] => unicode(text, wanted),
        [b'\\', letter, ..] => one(2, plain(*letter)),
        [b'\\'] => Escape::Begun,
        _ => Escape::None,
    }
}

/// The byte that a letter after a backslash stands for in JSON.
fn plain(letter: u8) -> Option<u8> {
    Some(match letter {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'"' | b'\\' | b'/' => letter,
        _ => return None,
    })
}

/// `\u00e9`, or two of them for a character beyond the first plane.
fn unicode(text: &[u8], wanted: &[u8]) -> Escape {
    let unit = |at: usize| text.get(at..at + 6).filter(|it| it.starts_with(b"\\u"));
    let Some(first) = unit(0) else { return Escape::Begun };
    let Some(first) = first.get(2..).and_then(hex) else { return Escape::None };
    let (character, length) = match (first, unit(6)) {
        (0xd800..=0xdbff, None) if text.len() < 12 => return Escape::Begun,
        (0xd800..=0xdbff, Some(second)) => {
            let Some(second) = second.get(2..).and_then(hex) else { return Escape::None };
            let low = second.wrapping_sub(0xdc00);
            (char::from_u32(0x10000 + ((first - 0xd800) << 10) + (low & 0x3ff)), 12)
        }
        _ => (char::from_u32(first), 6),
    };
    let mut buffer = [0; 4];
    match character.map(|it| it.encode_utf8(&mut buffer).as_bytes()) {
        Some(bytes) if wanted.starts_with(bytes) => {
            Escape::Whole { length, stands_for: bytes.len() }
        }
        _ => Escape::None,
    }
}

/// The number that hexadecimal digits stand for.
fn hex(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    std::str::from_utf8(digits).ok().and_then(|text| u32::from_str_radix(text, 16).ok())
}
