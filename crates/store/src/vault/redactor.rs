//! Replaces secrets in outputs: as they are, and percent-encoded, JSON-escaped or in base64.

mod secret_matcher;
mod used;

use std::{borrow::Cow, collections::BTreeSet};

use helmdeck_wire::vault::{CredentialType, MIN_SECRET};
use serde_json::Value;

use super::Secret;
use secret_matcher::{Match, SecretMatcher};

pub use used::{redact_used, redact_used_json, remember};

/// What replaces a secret.
pub const MASK: &str = "•••";
/// The shortest part of a secret that is replaced on its own: a line of a key, a field of a login.
const MIN_PART: usize = 6;
/// Fields of a login, cookie or OAuth credential that are not secret.
const PLAIN_FIELDS: [&str; 12] = [
    "username",
    "user",
    "email",
    "name",
    "domain",
    "host",
    "path",
    "url",
    "samesite",
    "expires",
    "scope",
    "token_type",
];

/// Replaces the secrets that were added to it.
#[derive(Clone, Default)]
pub struct Redactor {
    matchers: Vec<SecretMatcher>,
    known: BTreeSet<Vec<u8>>,
    /// Bytes that an occurrence can begin with.
    starts: Starts,
}

#[derive(Clone)]
struct Starts([bool; 256]);

impl Default for Starts {
    fn default() -> Self {
        Self([false; 256])
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} secrets)", self.known.len())
    }
}

impl Redactor {
    /// Adds a secret, and its parts: lines of a key, fields of a login.
    pub fn add(&mut self, secret: &Secret) {
        let bytes = secret.reveal();
        self.add_bytes(bytes);
        self.add_bytes(bytes.trim_ascii());
        if bytes.contains(&b'\n') {
            let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            lines.filter(|line| line.len() >= MIN_PART).for_each(|line| self.add_bytes(line));
        }
        let structured = [CredentialType::Login, CredentialType::Cookie, CredentialType::Oauth];
        if structured.contains(&secret.kind())
            && let Ok(value) = serde_json::from_slice::<Value>(bytes)
        {
            self.add_fields(&value);
        }
    }

    fn add_fields(&mut self, value: &Value) {
        match value {
            Value::String(text) if text.len() >= MIN_PART => self.add_bytes(text.as_bytes()),
            Value::Array(items) => items.iter().for_each(|item| self.add_fields(item)),
            Value::Object(fields) => {
                let plain = |name: &str| PLAIN_FIELDS.contains(&name.to_ascii_lowercase().as_str());
                for (_, value) in fields.iter().filter(|(name, _)| !plain(name)) {
                    self.add_fields(value);
                }
            }
            _ => {}
        }
    }

    /// Adds a secret as it is. One that is too short to be recognised is ignored.
    pub fn add_bytes(&mut self, secret: &[u8]) {
        if secret.len() < MIN_SECRET || !self.known.insert(secret.to_vec()) {
            return;
        }
        for matcher in SecretMatcher::of(secret) {
            for (byte, starts) in (0..=u8::MAX).zip(self.starts.0.iter_mut()) {
                *starts = *starts || matcher.starts_with(byte);
            }
            self.matchers.push(matcher);
        }
    }

    /// Adds the secrets of another one.
    pub fn extend(&mut self, other: Self) {
        other.known.iter().for_each(|secret| self.add_bytes(secret));
    }

    /// Whether it replaces nothing.
    pub fn is_empty(&self) -> bool {
        self.matchers.is_empty()
    }

    /// How many secrets it replaces.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// The text without secrets.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.apply_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// The bytes without secrets.
    pub fn apply_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut out = Vec::new();
        let rest = self.scan(bytes, true, &mut out);
        match rest {
            Some(_) if out.is_empty() => Cow::Borrowed(bytes),
            _ => Cow::Owned(out),
        }
    }

    /// The value without secrets, in texts and in names of fields.
    pub fn apply_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => match self.apply(&text) {
                Cow::Borrowed(_) => Value::String(text),
                Cow::Owned(text) => Value::String(text),
            },
            Value::Array(items) => items.into_iter().map(|item| self.apply_json(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| (self.apply(&name).into_owned(), self.apply_json(value)))
                .collect(),
            other => other,
        }
    }

    /// Redacts a stream of bytes.
    pub fn stream(&self) -> RedactedStream {
        RedactedStream { redactor: self.clone(), held: Vec::new() }
    }

    /// Writes bytes without secrets to `out`, if there is anything to replace or to keep. Returns
    /// where it stopped: at the end, or before the beginning of what may become a secret. `None` if
    /// all of it went to `out`.
    fn scan(&self, bytes: &[u8], last: bool, out: &mut Vec<u8>) -> Option<usize> {
        let (mut at, mut copied) = (0, 0);
        let copy = |out: &mut Vec<u8>, from: usize, to: usize| {
            out.extend(bytes.get(from..to).unwrap_or_default());
        };
        while let Some(byte) = bytes.get(at) {
            if !self.starts.0.get(usize::from(*byte)).copied().unwrap_or_default() {
                at += 1;
                continue;
            }
            match self.longest(bytes.get(at..).unwrap_or_default(), last) {
                Match::None => at += 1,
                Match::Whole(length) => {
                    copy(out, copied, at);
                    out.extend(MASK.as_bytes());
                    at += length.max(1);
                    copied = at;
                }
                Match::Begun => {
                    copy(out, copied, at);
                    return Some(at);
                }
            }
        }
        if last && copied == 0 {
            return Some(at);
        }
        copy(out, copied, at);
        None
    }

    /// The longest occurrence at the beginning of these bytes, unless a longer one may follow.
    fn longest(&self, bytes: &[u8], last: bool) -> Match {
        let mut longest = Match::None;
        for matcher in &self.matchers {
            match (matcher.at_start_of(bytes, last), longest) {
                (Match::Begun, _) => return Match::Begun,
                (Match::Whole(length), Match::Whole(best)) if best >= length => {}
                (Match::Whole(length), _) => longest = Match::Whole(length),
                (Match::None, _) => {}
            }
        }
        longest
    }
}

/// Redacts a stream of bytes, also where a secret is split between two chunks.
#[derive(Debug)]
pub struct RedactedStream {
    redactor: Redactor,
    /// What may become a secret.
    held: Vec<u8>,
}

impl RedactedStream {
    /// Takes the next chunk, and returns what can be passed on.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.held.extend(chunk);
        let mut out = Vec::new();
        match self.redactor.scan(&self.held, false, &mut out) {
            Some(at) => drop(self.held.drain(..at)),
            None => self.held.clear(),
        }
        out
    }

    /// Ends the stream, and returns what is left.
    pub fn finish(self) -> Vec<u8> {
        self.redactor.apply_bytes(&self.held).into_owned()
    }
}

#[cfg(test)]
mod tests;
