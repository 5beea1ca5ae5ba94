//! One server per data directory: `server.pid` is locked while the server runs.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, test_kill_process};

use crate::ServerError;

/// How long a server that was killed may still hold the lock: a program that it was starting has
/// a copy until it runs.
const RELEASE: Duration = Duration::from_secs(2);
/// The interval between two attempts.
const RETRY: Duration = Duration::from_millis(5);

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
        let deadline = Instant::now() + RELEASE;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            let mut pid = String::new();
            file.rewind().and_then(|()| file.read_to_string(&mut pid)).map_err(failed)?;
            let pid = pid.trim().to_owned();
            if is_running(&pid) || Instant::now() >= deadline {
                return Err(ServerError::AlreadyRunning { pid, data_dir: data_dir.to_owned() });
            }
            sleep(RETRY);
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

/// Whether there is a process with this id.
fn is_running(pid: &str) -> bool {
    pid.parse().ok().and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid).is_ok())
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

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

    #[test]
    fn a_killed_servers_lock_is_awaited_while_a_program_that_it_was_starting_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let killed = Lock::take(dir.path()).unwrap();
        // The id of no process.
        fs::write(dir.path().join("server.pid"), "2147483647\n").unwrap();
        let starting = thread::spawn(move || {
            sleep(Duration::from_millis(50));
            drop(killed);
        });
        Lock::take(dir.path()).unwrap();
        starting.join().unwrap();
    }
}
