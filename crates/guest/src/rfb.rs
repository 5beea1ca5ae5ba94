//! RFB access to the X server: passwords, and the handshake.
//!
//! The X server has two passwords. With the second, a client can only view: the X server ignores
//! its input and hides the clipboard. The relay filters as well; this is the second barrier.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use des::{
    Des,
    cipher::{Block, BlockCipherEncrypt, KeyInit},
};
use helmdeck_wire::ticket::Role;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::timeout,
};

use crate::error::GuestError;

/// The directory of the X server's socket; the agent's programs do not see it.
pub const PLACE: &str = "/run/helmdeck";
/// The name of its socket.
const SOCKET: &str = "rfb.sock";
/// The name of its password file.
const PASSWORD_FILE: &str = "rfb.passwd";
/// The handshake is local work.
const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(4);

const VERSION: &[u8; 12] = b"RFB 003.008\n";
const VNC_AUTH: u8 = 2;
/// The well-known key with which the password file is obfuscated.
const FILE_KEY: [u8; 8] = [23, 82, 107, 6, 35, 78, 88, 7];

/// A password: the protocol uses eight bytes.
type Password = [u8; 8];

/// The two passwords of this session's X server.
#[derive(Clone)]
pub struct Passwords {
    place: Arc<Path>,
    control: Password,
    view: Password,
}

impl Passwords {
    /// Generates passwords for an X server with its socket in this directory.
    pub fn generate(place: &Path) -> Result<Self, GuestError> {
        let random = || {
            let mut password = [0; 8];
            getrandom::fill(&mut password)
                .map_err(|e| GuestError::Io("no randomness", io::Error::other(e)))?;
            // A zero byte would end the password.
            Ok::<_, GuestError>(password.map(|byte| byte.max(1)))
        };
        Ok(Self { place: place.into(), control: random()?, view: random()? })
    }

    /// The path of the X server's socket.
    pub fn socket(&self) -> PathBuf {
        self.place.join(SOCKET)
    }

    /// The path of its password file.
    pub fn file(&self) -> PathBuf {
        self.place.join(PASSWORD_FILE)
    }

    /// Writes the password file.
    pub fn write(&self) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(self.file())?;
        file.write_all(&encrypt(FILE_KEY, self.control))?;
        file.write_all(&encrypt(FILE_KEY, self.view))
    }

    /// Opens an RFB connection for this role, starting with its `ClientInit`.
    pub async fn open(&self, role: Role) -> Result<UnixStream, GuestError> {
        let password = match role {
            Role::Control => self.control,
            Role::View => self.view,
        };
        let failed = |e| GuestError::Io("picture of the X server", e);
        let opened = async {
            let mut stream = UnixStream::connect(self.socket()).await?;
            log_in(&mut stream, password).await?;
            Ok(stream)
        };
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        timeout(HANDSHAKE_DEADLINE, opened).await.map_err(late).flatten().map_err(failed)
    }
}

async fn log_in(stream: &mut UnixStream, password: Password) -> io::Result<()> {
    let mut version = [0; 12];
    stream.read_exact(&mut version).await?;
    stream.write_all(VERSION).await?;
    let mut kinds = vec![0; usize::from(stream.read_u8().await?)];
    stream.read_exact(&mut kinds).await?;
    if !kinds.contains(&VNC_AUTH) {
        return Err(io::Error::other("it does not require a password"));
    }
    stream.write_u8(VNC_AUTH).await?;
    let (mut first, mut second) = ([0; 8], [0; 8]);
    stream.read_exact(&mut first).await?;
    stream.read_exact(&mut second).await?;
    stream.write_all(&encrypt(password, first)).await?;
    stream.write_all(&encrypt(password, second)).await?;
    match stream.read_u32().await? {
        0 => Ok(()),
        _ => Err(io::Error::other("it does not accept the password")),
    }
}

/// DES as VNC uses it: with reversed bits in every byte of the key.
fn encrypt(key: [u8; 8], block: [u8; 8]) -> [u8; 8] {
    let cipher = Des::new(&key.map(u8::reverse_bits).into());
    let mut block = Block::<Des>::from(block);
    cipher.encrypt_block(&mut block);
    block.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_stored_in_the_standard_format() {
        // The output of `vncpasswd -f` for "password".
        let hidden = [0xdb, 0xd8, 0x3c, 0xfd, 0x72, 0x7a, 0x14, 0x58];
        assert_eq!(encrypt(FILE_KEY, *b"password"), hidden);
    }
}
