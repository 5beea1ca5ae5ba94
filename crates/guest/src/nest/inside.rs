//! Our process inside the nested sandbox: starts programs and reports their ends.

use std::{
    io,
    os::fd::{AsFd, FromRawFd, OwnedFd, RawFd},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use helmdeck_wire::exec::TerminalSize;
use rustix::{
    fs::{Mode, OFlags, open},
    net::SendFlags,
    process::{Pid, PidfdFlags, pidfd_open},
    pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize},
};

use super::{
    control::{Answer, Request, SUPERVISOR, receive, send},
    waiter::Waiter,
};

/// Serves requests from `control_fd` until the guest closes it. `oom_score` is the OOM score
/// adjustment of the programs.
pub fn run_inside(control_fd: RawFd, oom_score: u32) -> io::Result<()> {
    helmdeck_spawn::close_inherited(Some(control_fd))?;
    // SAFETY: the guest passed this descriptor, and only we own it.
    let control = unsafe { OwnedFd::from_raw_fd(control_fd) };
    helmdeck_spawn::set_cloexec(&control)?;
    // When memory runs out, the agent's programs are killed first, then the browser, the guest
    // last.
    let _ = std::fs::write("/proc/self/oom_score_adj", oom_score.to_string());
    helmdeck_spawn::reserve_low_descriptors()?;
    let control = Arc::new(control);
    let answers = control.clone();
    let waiter = Waiter::start(move |pid, status| {
        let _ = send(&*answers, &Answer::Ended { pid, status }, &[], SendFlags::empty());
    })?;
    send(&*control, &Answer::Ready, &[], SendFlags::empty())?;
    while let Some((request, descriptors)) = receive::<Request>(&*control)? {
        let id = request.id;
        match start(request, descriptors) {
            Ok(Started { child, descriptors }) => {
                let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
                // Reported before its end can be.
                let started = Answer::Started { id, pid: child.id() };
                send(&*control, &started, &descriptors, SendFlags::empty())?;
                waiter.add(child);
            }
            Err(Failed { error, in_cwd }) => {
                let errno = error.raw_os_error().unwrap_or(0);
                let failed = Answer::Failed { id, errno, in_cwd };
                send(&*control, &failed, &[], SendFlags::empty())?;
            }
        }
    }
    Ok(())
}

/// A started program, and the descriptors for the guest.
struct Started {
    child: Child,
    descriptors: Vec<OwnedFd>,
}

/// Why a program could not be started.
struct Failed {
    error: io::Error,
    in_cwd: bool,
}

impl<E: Into<io::Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self { error: error.into(), in_cwd: false }
    }
}

fn start(request: Request, descriptors: Vec<OwnedFd>) -> Result<Started, Failed> {
    let program = request.program;
    let mut command = Command::new(&program.program);
    command.args(program.args).env_clear().envs(program.env);
    command.stdin(Stdio::null());
    if let Some(cwd) = program.cwd {
        // Checked first, to tell a missing directory from a missing program.
        let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        open(&cwd, folder, Mode::empty())
            .map_err(|errno| Failed { error: errno.into(), in_cwd: true })?;
        command.current_dir(cwd);
    }
    helmdeck_spawn::inherit_nothing(&mut command);
    let mut placed = Vec::new();
    let mut supervised = false;
    for (fd, target) in descriptors.into_iter().zip(request.targets) {
        if target == SUPERVISOR {
            supervised = true;
            helmdeck_spawn::supervise(&mut command, fd);
        } else {
            placed.push((fd, target));
        }
    }
    helmdeck_spawn::new_session(&mut command);
    for (fd, target) in placed {
        helmdeck_spawn::place_fd(&mut command, fd, target);
    }
    let terminal = program.terminal.map(|size| give_terminal(&mut command, size)).transpose()?;
    let child = command.spawn()?;
    let mut descriptors = Vec::new();
    if supervised {
        descriptors.push(pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?);
    }
    descriptors.extend(terminal);
    Ok(Started { child, descriptors })
}

/// Creates a terminal for the program and returns its other side. It is created in here, so that
/// programs can open it by name.
fn give_terminal(command: &mut Command, size: TerminalSize) -> io::Result<OwnedFd> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    unlockpt(&ours)?;
    let theirs =
        ioctl_tiocgptpeer(&ours, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    let mut modes = tcgetattr(&theirs)?;
    // Otherwise backspace would delete one byte of a character.
    modes.input_modes |= InputModes::IUTF8;
    tcsetattr(&theirs, OptionalActions::Now, &modes)?;
    let TerminalSize { cols, rows } = size;
    tcsetwinsize(&ours, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })?;
    for target in [1, 2] {
        helmdeck_spawn::place_fd(command, theirs.try_clone()?, target);
    }
    helmdeck_spawn::place_fd(command, theirs, 0);
    helmdeck_spawn::controlling_terminal(command);
    Ok(ours)
}
