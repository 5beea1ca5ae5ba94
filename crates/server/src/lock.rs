//! One server per data directory: `server.pid` is locked while the server runs.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use crate::ServerError;

/// Held while the server runs. The system releases it even if the server is killed.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or fails with the process that holds it.
    pub fn take(data_dir: &Path) -> Result<Self, ServerError> {
        let path = data_dir.join("server.pid");
        let failed = |source| ServerError::File { path: path.clone(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                file.read_to_string(&mut pid).map_err(failed)?;
                let data_dir = data_dir.to_owned();
                return Err(ServerError::AlreadyRunning { pid: pid.trim().to_owned(), data_dir });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // Overwrite first and truncate afterwards: on a full disk, a truncated file would stay
        // empty.
        let pid = format!("{}\n", std::process::id());
        let written = file
            .rewind()
            .and_then(|()| file.write_all(pid.as_bytes()))
            .and_then(|()| file.set_len(pid.len() as u64));
        written.map_err(failed)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_server_is_refused_by_pid_until_the_first_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let first = Lock::take(dir.path()).unwrap();
        let refused = Lock::take(dir.path()).unwrap_err().to_string();
        assert!(refused.contains(&format!("pid {}", std::process::id())), "{refused}");
        drop(first);
        Lock::take(dir.path()).unwrap();
    }
}
