//! A supervisor process above a program, which adopts everything the program leaves behind.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd, RawFd},
    process::Command,
};

use crate::{check, in_child};

/// The last ordinary signal.
const LAST_SIGNAL: libc::c_int = 31;

/// Puts a supervisor process between us and the program. Waiting for the child waits for it.
///
/// The supervisor is a subreaper: all descendants of the program stay below it, even those that
/// leave their parent, process group and session. When the program itself ends, the supervisor
/// writes its wait status to `told` (four bytes in native order). It ends when no descendant is
/// left. Call this before everything that is meant for the program alone.
///
/// A failed exec is reported as usual.
pub fn supervise(command: &mut Command, told: OwnedFd) {
    in_child(command, move || {
        // SAFETY: integers only.
        check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })?;
        // Like fork, but without the libraries' fork handlers.
        // SAFETY: no memory is shared, and the child goes on with a copy of our stack.
        let program = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
        let program = libc::pid_t::try_from(program).unwrap_or(-1);
        check(program)?;
        if program == 0 {
            return Ok(());
        }
        watch_over(program, told.as_raw_fd())
    });
}

/// Waits for the program and all its descendants. Uses only plain system calls: this is a copy of a
/// process that may have threads.
fn watch_over(program: libc::pid_t, told: RawFd) -> ! {
    // SAFETY: integers and static text only; this process's descriptors are not used elsewhere.
    unsafe {
        for signal in 1..=LAST_SIGNAL {
            if signal != libc::SIGCHLD {
                // Fails for signals that cannot be ignored.
                libc::signal(signal, libc::SIG_IGN);
            }
        }
        // The pipe that reports a failed exec must close with the program's copy.
        let number = libc::c_long::from(told);
        libc::syscall(libc::SYS_close_range, 0, number - 1, 0);
        libc::syscall(libc::SYS_close_range, number + 1, libc::c_long::from(u32::MAX), 0);
        libc::prctl(libc::PR_SET_NAME, c"supervisor".as_ptr(), 0, 0, 0);
        libc::chdir(c"/".as_ptr());
        loop {
            let mut status: libc::c_int = 0;
            let ended = libc::waitpid(-1, &raw mut status, 0);
            if ended == program {
                // The reader may be gone.
                libc::write(told, (&raw const status).cast(), size_of::<libc::c_int>());
                libc::close(told);
            } else if ended == -1 && *libc::__errno_location() != libc::EINTR {
                libc::_exit(0);
            }
        }
    }
}

/// Makes the child's standard input its controlling terminal. Call this after the new session and
/// the descriptor are set up.
pub fn controlling_terminal(command: &mut Command) {
    in_child(command, || {
        // SAFETY: integers only.
        check(unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) })
    });
}

/// How a program ended, from the four bytes that [`supervise`] writes.
pub fn ending(told: [u8; 4]) -> io::Result<Ending> {
    let status = i32::from_ne_bytes(told);
    if libc::WIFEXITED(status) {
        Ok(Ending::Exited(libc::WEXITSTATUS(status)))
    } else if libc::WIFSIGNALED(status) {
        Ok(Ending::Signaled(libc::WTERMSIG(status)))
    } else {
        Err(io::Error::from(io::ErrorKind::InvalidData))
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Exited(i32),
    /// It was ended by this signal.
    Signaled(i32),
}

#[cfg(test)]
mod tests {
    use std::{
        io::{PipeReader, Read},
        process::{Child, Command, Stdio},
    };

    use super::*;

    /// Starts a shell with a supervisor above it.
    fn start(script: &str) -> io::Result<(Child, PipeReader)> {
        let (read, told) = io::pipe()?;
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null());
        supervise(&mut command, told.into());
        let child = command.spawn();
        drop(command);
        Ok((child?, read))
    }

    fn told(mut read: PipeReader) -> io::Result<Ending> {
        let mut status = [0; 4];
        read.read_exact(&mut status)?;
        ending(status)
    }

    #[test]
    fn the_supervisor_reports_the_exit_and_waits_for_descendants() {
        let (mut supervisor, read) = start("exit 7").unwrap();
        assert_eq!(told(read).unwrap(), Ending::Exited(7));
        supervisor.wait().unwrap();

        let (mut supervisor, read) = start("kill -9 $$").unwrap();
        assert_eq!(told(read).unwrap(), Ending::Signaled(9));
        supervisor.wait().unwrap();

        // A child that left its parent and session.
        let (mut supervisor, read) = start("(setsid sleep 1000 &)").unwrap();
        assert_eq!(told(read).unwrap(), Ending::Exited(0));
        assert!(supervisor.try_wait().unwrap().is_none(), "something is left");
        let children = format!("/proc/{0}/task/{0}/children", supervisor.id());
        let left: i32 = loop {
            // The intermediate parent may still exist.
            if let Ok(pid) = std::fs::read_to_string(&children).unwrap().trim().parse() {
                break pid;
            }
            std::thread::yield_now();
        };
        // SAFETY: integers only.
        unsafe { libc::kill(left, libc::SIGKILL) };
        assert!(supervisor.wait().unwrap().success());
    }

    #[test]
    fn a_missing_program_is_an_error_at_start() {
        let (_read, told) = io::pipe().unwrap();
        let mut command = Command::new("/nonexistent");
        supervise(&mut command, told.into());
        assert_eq!(command.spawn().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
