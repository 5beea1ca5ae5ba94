//! The handshake with the viewer. It ends here and never reaches the X server.
//!
//! ```text
//! Version ──3.7, 3.8──► Security ──► ClientInit ──► Finished
//!    └───────3.3──────────────────────────▲
//! ```
//!
//! No login is needed: the viewer has already shown a ticket or token to the server.

use crate::RfbError;

/// The first message to the viewer.
pub const GREETING: &[u8; 12] = b"RFB 003.008\n";

const NO_SECURITY: u8 = 1;
const SHARED: u8 = 1;

/// A handshake in progress.
#[derive(Debug)]
pub struct Handshake {
    state: State,
    /// The received part of the viewer's version.
    version: Vec<u8>,
}

/// The result of some bytes of the viewer.
#[derive(Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// Bytes to send to the viewer now; often empty.
    pub to_client: Vec<u8>,
    /// Set once the handshake is complete.
    pub done: Option<Done<'a>>,
}

/// How the connection continues after the handshake.
#[derive(Debug, PartialEq, Eq)]
pub struct Done<'a> {
    /// The first bytes for the X server. They always request a shared desktop, because a viewer
    /// must not be able to disconnect the others.
    pub client_init: [u8; 1],
    /// Bytes that the viewer sent after its handshake, for the filter.
    pub rest: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V33,
    V37,
    V38,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Version,
    Security(Version),
    ClientInit,
    Finished,
}

impl Handshake {
    /// Starts a handshake; the returned bytes are the [`GREETING`] to send to the viewer.
    pub fn new() -> (Self, &'static [u8]) {
        let handshake = Self { state: State::Version, version: Vec::with_capacity(GREETING.len()) };
        (handshake, GREETING)
    }

    /// Takes bytes of the viewer, in pieces of any size.
    ///
    /// After an error, close the connection. After [`Step::done`], further bytes are returned
    /// unchanged.
    pub fn feed<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, RfbError> {
        let mut to_client = Vec::new();
        let mut rest = bytes;
        while !matches!(self.state, State::Finished) {
            let Some((byte, after)) = rest.split_first() else {
                return Ok(Step { to_client, done: None });
            };
            rest = after;
            self.state = self.take(*byte, &mut to_client)?;
        }
        Ok(Step { to_client, done: Some(Done { client_init: [SHARED], rest }) })
    }

    fn take(&mut self, byte: u8, to_client: &mut Vec<u8>) -> Result<State, RfbError> {
        match self.state {
            State::Version => {
                self.version.push(byte);
                if self.version.len() < GREETING.len() {
                    return Ok(State::Version);
                }
                Ok(offer_security(parse_version(&self.version)?, to_client))
            }
            State::Security(_) if byte != NO_SECURITY => Err(RfbError::SecurityType(byte)),
            State::Security(version) => {
                // Before 3.8, there is no success message without a login.
                if version == Version::V38 {
                    to_client.extend_from_slice(&0_u32.to_be_bytes());
                }
                Ok(State::ClientInit)
            }
            State::ClientInit | State::Finished => Ok(State::Finished),
        }
    }
}

fn parse_version(bytes: &[u8]) -> Result<Version, RfbError> {
    match bytes {
        b"RFB 003.003\n" => Ok(Version::V33),
        b"RFB 003.007\n" => Ok(Version::V37),
        b"RFB 003.008\n" => Ok(Version::V38),
        _ => Err(RfbError::Version),
    }
}

fn offer_security(version: Version, to_client: &mut Vec<u8>) -> State {
    match version {
        // In 3.3 the server chooses the security type.
        Version::V33 => {
            to_client.extend_from_slice(&u32::from(NO_SECURITY).to_be_bytes());
            State::ClientInit
        }
        Version::V37 | Version::V38 => {
            to_client.extend_from_slice(&[1, NO_SECURITY]);
            State::Security(version)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything sent to the viewer, and the bytes after the handshake.
    fn shake(bytes: &[u8], chunk: usize) -> Result<(Vec<u8>, Option<Vec<u8>>), RfbError> {
        let (mut handshake, _) = Handshake::new();
        let mut sent = Vec::new();
        let mut rest: Option<Vec<u8>> = None;
        for chunk in bytes.chunks(chunk) {
            let step = handshake.feed(chunk)?;
            sent.extend(step.to_client);
            if let Some(done) = step.done {
                assert_eq!(done.client_init, [1]);
                rest.get_or_insert_default().extend(done.rest);
            }
        }
        Ok((sent, rest))
    }

    #[test]
    fn each_version_gets_its_answers_with_any_chunk_sizes() {
        let cases: [(&[u8], &[u8]); 3] = [
            (b"RFB 003.003\n\x00behind", &[0, 0, 0, 1]),
            (b"RFB 003.007\n\x01\x00behind", &[1, 1]),
            (b"RFB 003.008\n\x01\x00behind", &[1, 1, 0, 0, 0, 0]),
        ];
        for (bytes, answers) in cases {
            for chunk in 1..=bytes.len() {
                let result = shake(bytes, chunk);
                assert_eq!(result, Ok((answers.to_vec(), Some(b"behind".to_vec()))));
            }
        }
    }

    #[test]
    fn the_handshake_ends_only_after_client_init() {
        let (sent, rest) = shake(b"RFB 003.008\n\x01", 1).unwrap();

        assert_eq!((sent.len(), rest), (6, None));
    }

    #[test]
    fn strangers_are_refused() {
        for version in [b"RFB 003.005\n", b"RFB 003.889\n", b"RFB 004.000\n", b"GET / HTTP/1"] {
            assert_eq!(shake(version, 5), Err(RfbError::Version));
        }
        assert_eq!(shake(b"RFB 003.008\n\x02", 13), Err(RfbError::SecurityType(2)));
    }
}
