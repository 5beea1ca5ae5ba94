//! Both ends of git by SSH (ADR 59): what git starts in a session in place of an SSH client, and the
//! SSH client outside, which has neither a network nor files of a session.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    os::fd::{AsFd, FromRawFd, OwnedFd, RawFd},
    process::{Command, ExitCode},
    thread,
};

/// Exit code of shells for a program that does not exist.
const NOT_FOUND: u8 = 127;
/// Exit code of an SSH client that was killed.
const KILLED: u8 = 255;

/// Carries git's bytes to the server, which runs the SSH client.
pub fn git_ssh(port: u16, key: &str) -> io::Result<ExitCode> {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    server.write_all(format!("{key}\n").as_bytes())?;
    let mut input = plain(io::stdin())?;
    let mut output = plain(io::stdout())?;
    let sending = server.try_clone()?;
    thread::spawn(move || carry(&mut input, &sending));
    copy(&mut server, &mut output)?;
    Ok(ExitCode::SUCCESS)
}

/// A standard stream without a buffer, which would hold back bytes.
fn plain(stream: impl AsFd) -> io::Result<File> {
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

/// Copies until the end. Unlike `io::copy`, it does not splice: the kernel locks the pipe while a splice
/// waits for the connection, and git could not read what is in it already.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(buffer.get(..length).unwrap_or_default())?;
    }
}

/// Copies to a connection, and tells its other side where the bytes end.
fn carry(from: &mut impl Read, mut to: &TcpStream) {
    // If the other side is gone, the rest is of no use.
    let _ = copy(from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// Runs `ssh`. It connects to a port of its own loopback, which leads to the inherited connection.
pub fn ssh_client(connection: RawFd, line: &[OsString]) -> io::Result<ExitCode> {
    // SAFETY: the server passes this descriptor, and nothing else in this process knows of it.
    let connection = unsafe { OwnedFd::from_raw_fd(connection) };
    helmdeck_spawn::set_cloexec(&connection)?;
    let outside = TcpStream::from(connection);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port().to_string();
    let mut ssh = match Command::new("ssh").args(["-p", &port]).args(line).spawn() {
        Ok(ssh) => ssh,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            eprintln!("ssh is not installed");
            return Ok(ExitCode::from(NOT_FOUND));
        }
        Err(error) => return Err(error),
    };
    thread::spawn(move || -> io::Result<()> {
        let (near, _) = listener.accept()?;
        let (mut from_near, mut from_outside) = (near.try_clone()?, outside.try_clone()?);
        thread::spawn(move || carry(&mut from_near, &outside));
        carry(&mut from_outside, &near);
        Ok(())
    });
    let code = ssh.wait()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(KILLED)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_input_reaches_the_other_side_and_its_answer_comes_back() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        carry(&mut &b"0000"[..], &near);
        let mut got = Vec::new();
        far.read_to_end(&mut got).unwrap();
        far.write_all(b"answer").unwrap();
        drop(far);
        let mut answer = String::new();
        (&near).read_to_string(&mut answer).unwrap();
        assert_eq!((got.as_slice(), answer.as_str()), (&b"0000"[..], "answer"));
    }
}
