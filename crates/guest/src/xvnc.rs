//! The X server: TigerVNC's, with RFB on a unix socket and without a port.

use std::{io, process::Stdio, time::Duration};

use helmdeck_wire::size::Geometry;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::unix::pipe,
    process::{Child, Command},
    time::timeout,
};

use crate::{error::GuestError, log::Log, rfb};

/// The display of every session, as agents expect it.
pub const DISPLAY: &str = ":99";
/// It starts in 30 ms on an idle machine.
const START_DEADLINE: Duration = Duration::from_secs(20);

/// Starts the X server, which serves RFB clients that know `passwords`, and waits until it accepts
/// X clients.
pub async fn start(
    geometry: Geometry,
    passwords: &rfb::Passwords,
    log: &Log,
) -> Result<Child, GuestError> {
    passwords.write().map_err(|e| GuestError::Io("passwords of the X server", e))?;
    let pipes = |e: io::Error| GuestError::Io("pipe of the X server", e);
    let (ready, written) = std::io::pipe().map_err(pipes)?;
    let output = log.pipe("xvnc").map_err(pipes)?;
    let mut command = Command::new("Xtigervnc");
    helmdeck_spawn::inherit_nothing(command.as_std_mut());
    // Any program on the display can make it connect to a viewer, bypassing all passwords.
    helmdeck_spawn::without_network(command.as_std_mut());
    let written = helmdeck_spawn::keep_fd(command.as_std_mut(), written.into());
    command.arg(DISPLAY).args(["-displayfd", &written.to_string()]);
    command.args(["-geometry", &geometry.to_string(), "-depth", "24", "-noreset"]);
    command.args(["-rfbport", "-1", "-rfbunixmode", "0600", "-rfbunixpath"]);
    command.arg(passwords.socket());
    command.args(["-SecurityTypes", "VncAuth", "-PasswordFile"]).arg(passwords.file());
    // Its output goes to the session's log, so statistics of viewers are turned off.
    command.args(["-AlwaysShared", "-Log", "*:stderr:10"]);
    // No abstract socket, no TCP, no remote reconfiguration, and a third of the memory.
    command.args(["-nolisten", "local", "-nolisten", "tcp", "-AllowOverride", ""]);
    command.args(["-extension", "GLX", "-desktop", "helmdeck"]);
    command.stdin(Stdio::null()).stderr(output.try_clone().map_err(pipes)?).stdout(output);
    command.kill_on_drop(true);
    let spawned = command.spawn();
    // Close our end of the pipe, or its closing would never be noticed.
    drop(command);
    let child =
        spawned.map_err(|source| GuestError::Spawn { program: "Xtigervnc".into(), source })?;

    let ready = std::os::fd::OwnedFd::from(ready);
    rustix::io::ioctl_fionbio(&ready, true).map_err(|e| pipes(e.into()))?;
    let ready = pipe::Receiver::from_owned_fd(ready).map_err(pipes)?;
    // Read the whole line: the server dies if the pipe closes while it writes.
    let mut line = String::new();
    match timeout(START_DEADLINE, BufReader::new(ready).read_line(&mut line)).await {
        Ok(Ok(1..)) => Ok(child),
        Ok(_) => Err(GuestError::Ended("Xtigervnc")),
        Err(_) => {
            Err(GuestError::NotReady { program: "Xtigervnc", seconds: START_DEADLINE.as_secs() })
        }
    }
}
