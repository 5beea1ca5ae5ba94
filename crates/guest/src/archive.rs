//! Tar archives from the server: unpacked before anything of the agent runs, and only as files and
//! folders.

use std::{fs, io, path::Path, process::Stdio};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
};

use crate::error::GuestError;

/// Unpacks an archive into a folder; `what` it is stands in errors.
pub async fn unpack<E>(
    into: &Path,
    mut pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
    what: &'static str,
) -> Result<(), GuestError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let failed = |error| GuestError::Io(what, error);
    let mut tar = tar(into, &["--extract", "--no-same-owner"], Stdio::piped(), Stdio::null())?;
    let mut input = tar.stdin.take().ok_or(GuestError::Ended("tar"))?;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|e| failed(io::Error::other(e)))?;
        input.write_all(&piece).await.map_err(failed)?;
    }
    drop(input);
    let status = tar.wait().await.map_err(|e| GuestError::Io("tar", e))?;
    if status.success() { Ok(()) } else { Err(GuestError::Ended("tar")) }
}

/// Removes what is neither file nor folder: a link could lead anywhere, a pipe makes readers wait.
pub fn scrub(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            scrub(&entry.path())?;
        } else if !kind.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Starts tar in a folder.
pub fn tar(
    dir: &Path,
    arguments: &[&str],
    input: Stdio,
    output: Stdio,
) -> Result<Child, GuestError> {
    let mut command = Command::new("tar");
    helmdeck_spawn::inherit_nothing(command.as_std_mut());
    command.arg("--directory").arg(dir).args(arguments);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(input).stdout(output).stderr(Stdio::null()).kill_on_drop(true);
    command.spawn().map_err(|source| GuestError::Spawn { program: "tar".into(), source })
}
