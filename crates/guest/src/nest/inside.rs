//! Our process inside the nested sandbox: starts programs and reports how they end.

use std::{
    io,
    os::fd::{FromRawFd, OwnedFd, RawFd},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use rustix::net::SendFlags;

use super::{
    control::{Answer, Request, receive, send},
    waiter::Waiter,
};

/// Serves requests from `control_fd` until the guest closes it. Programs start with this score for when
/// memory runs out.
pub fn run_inside(control_fd: RawFd, oom_score: u32) -> io::Result<()> {
    helmdeck_spawn::close_inherited(Some(control_fd))?;
    // SAFETY: the guest passed this descriptor for us alone to own.
    let control = unsafe { OwnedFd::from_raw_fd(control_fd) };
    helmdeck_spawn::set_cloexec(&control)?;
    // When memory runs out, what the agent runs goes first, then the browser, and the guest last.
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
            Ok(child) => {
                // Announced before its end can be.
                let started = Answer::Started { id, pid: child.id() };
                send(&*control, &started, &[], SendFlags::empty())?;
                waiter.add(child);
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(0);
                send(&*control, &Answer::Failed { id, errno }, &[], SendFlags::empty())?;
            }
        }
    }
    Ok(())
}

fn start(request: Request, descriptors: Vec<OwnedFd>) -> io::Result<Child> {
    let program = request.program;
    let mut command = Command::new(&program.program);
    command.args(program.args).env_clear().envs(program.env);
    command.stdin(Stdio::null());
    helmdeck_spawn::inherit_nothing(&mut command);
    helmdeck_spawn::new_session(&mut command);
    for (fd, target) in descriptors.into_iter().zip(request.targets) {
        helmdeck_spawn::place_fd(&mut command, fd, target);
    }
    command.spawn()
}
