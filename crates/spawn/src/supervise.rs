//! A process of ours above a program, to which everything that the program leaves behind belongs.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd, RawFd},
    process::Command,
};

use crate::{check, in_child};

/// The last of the ordinary signals.
const LAST_SIGNAL: libc::c_int = 31;

/// Puts a process between us and the program, and has what we wait for be that process.
///
/// It is the subreaper of the program: whatever the program starts stays below it, also what leaves its
/// parent, its group and its session. It writes the program's wait status into `told` (four bytes, as
/// this machine orders them) when the program itself ends, and ends when nothing is left below it. To be
/// named before everything that is meant for the program alone.
///
/// An exec that fails is reported as ever.
pub fn supervise(command: &mut Command, told: OwnedFd) {
    in_child(command, move || {
        // SAFETY: integers only.
        check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })?;
        // As fork does, less what libraries want to do at a fork.
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

/// Waits for the program and all that it leaves. Plain system calls only: this is a copy of a process
/// that may have threads.
fn watch_over(program: libc::pid_t, told: RawFd) -> ! {
    // SAFETY: integers and static text only; nobody else uses the descriptors of this process.
    unsafe {
        for signal in 1..=LAST_SIGNAL {
            if signal != libc::SIGCHLD {
                // Fails for those that cannot be ignored.
                libc::signal(signal, libc::SIG_IGN);
            }
        }
        // The pipe on which a failed exec is told must close with the program's copy.
        let number = libc::c_long::from(told);
        libc::syscall(libc::SYS_close_range, 0, number - 1, 0);
        libc::syscall(libc::SYS_close_range, number + 1, libc::c_long::from(u32::MAX), 0);
        libc::prctl(libc::PR_SET_NAME, c"supervisor".as_ptr(), 0, 0, 0);
        libc::chdir(c"/".as_ptr());
        loop {
            let mut status: libc::c_int = 0;
            let ended = libc::waitpid(-1, &raw mut status, 0);
            if ended == program {
                // Nobody may want to know.
                libc::write(told, (&raw const status).cast(), size_of::<libc::c_int>());
                libc::close(told);
            } else if ended == -1 && *libc::__errno_location() != libc::EINTR {
                libc::_exit(0);
            }
        }
    }
}

/// Makes the terminal that is the child's standard input its controlling one. To be named after the
/// session is new and the descriptor in its place.
pub fn controlling_terminal(command: &mut Command) {
    in_child(command, || {
        // SAFETY: integers only.
        check(unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) })
    });
}

/// How a program ended, from the four bytes that [`supervise`] writes: the code it exited with, or the
/// signal that ended it.
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
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
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
    fn it_tells_how_the_program_ended_and_outlives_it_for_what_it_left() {
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
            // The parent between the two may not have gone yet.
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
    fn a_program_that_does_not_exist_is_an_error_of_the_start() {
        let (_read, told) = io::pipe().unwrap();
        let mut command = Command::new("/nonexistent");
        supervise(&mut command, told.into());
        assert_eq!(command.spawn().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
