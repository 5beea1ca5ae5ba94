//! Our process inside the nested sandbox: starts programs and reports how they end.

use std::{
    io,
    os::{
        fd::{FromRawFd, OwnedFd, RawFd},
        unix::process::ExitStatusExt,
    },
    process::{Child, Command, Stdio},
    sync::Arc,
};

use super::control::{Answer, Request, receive, send};

/// A waiting thread needs next to no stack.
const STACK: usize = 64 << 10;

/// Serves requests from `control_fd` until the guest closes it.
pub fn run_inside(control_fd: RawFd) -> io::Result<()> {
    // SAFETY: the guest passed this descriptor for us alone to own.
    let control = unsafe { OwnedFd::from_raw_fd(control_fd) };
    helmdeck_spawn::set_cloexec(&control)?;
    // When memory runs out, what the agent runs goes first, and the guest last.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    let control = Arc::new(control);
    helmdeck_spawn::reserve_low_descriptors()?;
    while let Some((request, descriptors)) = receive::<Request>(&*control)? {
        let id = request.id;
        let answer = match start(request, descriptors) {
            Ok(child) => {
                let pid = child.id();
                // Announced before its end can be.
                send(&*control, &Answer::Started { id, pid }, &[])?;
                report_end(child, control.clone())?;
                continue;
            }
            Err(error) => Answer::Failed { id, errno: error.raw_os_error().unwrap_or(0) },
        };
        send(&*control, &answer, &[])?;
    }
    Ok(())
}

fn start(request: Request, descriptors: Vec<OwnedFd>) -> io::Result<Child> {
    let program = request.program;
    let mut command = Command::new(&program.program);
    command.args(program.args).env_clear().envs(program.env);
    command.stdin(Stdio::null());
    helmdeck_spawn::new_session(&mut command);
    for (fd, target) in descriptors.into_iter().zip(request.targets) {
        helmdeck_spawn::place_fd(&mut command, fd, target);
    }
    command.spawn()
}

/// Waits for the child on a thread of its own; grandchildren are reaped by the sandbox's init.
fn report_end(mut child: Child, control: Arc<OwnedFd>) -> io::Result<()> {
    let wait = move || {
        let pid = child.id();
        let status = match child.wait() {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "unknown".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        let _ = send(&*control, &Answer::Ended { pid, status }, &[]);
    };
    std::thread::Builder::new().stack_size(STACK).spawn(wait)?;
    Ok(())
}
