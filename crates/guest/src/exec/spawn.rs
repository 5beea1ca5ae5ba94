//! Starts a command: its pipes, its environment, and its start errors.

use std::{
    collections::BTreeMap,
    io,
    os::fd::{AsFd, OwnedFd},
};

use helmdeck_wire::{
    ErrorBody, ErrorCode,
    exec::{Exec, ExecId, WORKSPACE},
};
use rustix::io::Errno;
use tokio::net::unix::pipe;

use super::tree::{MARK, Tree};
use crate::{
    begin::Session,
    error::GuestError,
    nest::{Program, SUPERVISOR, SpawnError},
};

/// Our ends of a command's pipes.
pub struct Pipes {
    /// Its input, and the text to write.
    pub stdin: Option<(pipe::Sender, String)>,
    pub stdout: pipe::Receiver,
    pub stderr: pipe::Receiver,
    /// Where its supervisor reports how it ended.
    pub told: pipe::Receiver,
}

/// Starts a command in the agent's sandbox.
pub async fn spawn(
    session: &Session,
    exec: Exec,
    id: &ExecId,
) -> Result<(Pipes, Tree), GuestError> {
    let failed = |e| GuestError::Io("pipe of a command", e);
    let (stdout, out) = outgoing().map_err(failed)?;
    let (stderr, err) = outgoing().map_err(failed)?;
    let (told, telling) = outgoing().map_err(failed)?;
    let mut descriptors = vec![(telling, SUPERVISOR), (out, 1), (err, 2)];
    let stdin = match exec.stdin {
        Some(text) => {
            let (read, sender) = incoming().map_err(failed)?;
            descriptors.push((read, 0));
            Some((sender, text))
        }
        None => None,
    };
    let name = exec.command.name().to_owned();
    let (program, args) = exec.command.words();
    let cwd = exec.cwd.unwrap_or_else(|| WORKSPACE.to_owned());
    let env = environment(session, exec.env, id);
    let program = Program { program, args, env, cwd: Some(cwd.clone()), terminal: None };
    let spawned = session.nest.spawn_as(program, descriptors).await;
    let spawned = spawned.map_err(|error| refusal(error, &name, &cwd))?;
    let supervisor = spawned.descriptors.into_iter().next().ok_or(GuestError::NestGone)?;
    let tree = Tree::new(supervisor, id, session.nest.leader_pid());
    Ok((Pipes { stdin, stdout, stderr, told }, tree))
}

/// The environment of a command: the session's own, with additions.
pub fn environment(
    session: &Session,
    wanted: BTreeMap<String, String>,
    id: &ExecId,
) -> BTreeMap<String, String> {
    let mut env = (*session.agent_env).clone();
    env.extend(wanted);
    env.insert(MARK.to_owned(), id.as_str().to_owned());
    env
}

/// A pipe that a program writes to: our end and the program's.
pub fn outgoing() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(reader.as_fd(), true)?;
    Ok((pipe::Receiver::from_owned_fd(reader.into())?, writer.into()))
}

/// A pipe that a program reads from: the program's end and ours.
fn incoming() -> io::Result<(OwnedFd, pipe::Sender)> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(writer.as_fd(), true)?;
    Ok((reader.into(), pipe::Sender::from_owned_fd(writer.into())?))
}

/// The error for a command that did not start.
pub fn refusal(error: SpawnError, name: &str, cwd: &str) -> GuestError {
    let refused = |code, field: &str, message| {
        GuestError::Refused(ErrorBody::new(code, message).of_field(field))
    };
    let error = match error {
        SpawnError::NestGone => return GuestError::NestGone,
        SpawnError::Cwd(error) => {
            let message = format!("cwd: {cwd:?} cannot be entered: {}", plainly(&error));
            return refused(ErrorCode::InvalidInput, "cwd", message);
        }
        SpawnError::Io(error) => error,
    };
    match Errno::from_io_error(&error) {
        Some(Errno::NOENT) => {
            // The command is not parsed by a shell, so a name with spaces is probably a command
            // line.
            let hint =
                if name.contains(' ') { "; a shell line is a string, not an array" } else { "" };
            let message = format!(
                "command: {name:?} does not exist in the session; check the name or path{hint}"
            );
            refused(ErrorCode::CommandNotFound, "command", message)
        }
        Some(Errno::TOOBIG | Errno::MSGSIZE) => {
            let message = "command: it is too long together with env, at most about 128 KB: send a \
                           long script by stdin, or upload it as a file";
            refused(ErrorCode::InvalidInput, "command", message.to_owned())
        }
        _ => {
            let message = format!("command: {name:?} cannot be started: {}", plainly(&error));
            refused(ErrorCode::CommandFailed, "command", message)
        }
    }
}

/// The system's message without the error number.
fn plainly(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
