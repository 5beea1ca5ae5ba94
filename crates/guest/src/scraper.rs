//! The live view of an attached display: TigerVNC's scraping server, on a unix socket and without a
//! port.

use std::{
    fs, io,
    os::fd::OwnedFd,
    process::{Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

use crate::{error::GuestError, log::Log, rfb::Passwords};

/// Debian's name first: there, the other is a script that would detach from us.
const PROGRAMS: [&str; 2] = ["X0tigervnc", "x0vncserver"];
/// The hint for people about what to install.
pub const MISSING: &str = "the live view of an attached display needs TigerVNC's X0tigervnc on the \
    machine that attached it (Debian: tigervnc-scraping-server); screenshots and actions work";
/// It starts in 50 ms on an idle machine.
const START_DEADLINE: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Pause before it is restarted.
const PAUSE: Duration = Duration::from_secs(1);

/// A running server. Dropping this ends it.
struct Scraper {
    process: OwnedFd,
    ended: oneshot::Receiver<()>,
}

impl Drop for Scraper {
    fn drop(&mut self) {
        // Fails only if it has already ended.
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
    }
}

/// Serves the display to clients that know `passwords`, until the result is dropped. `None` if this
/// machine has no such program.
pub async fn start(
    display: &str,
    passwords: &Passwords,
    log: &Log,
) -> Result<Option<impl Future<Output = ()> + Send + 'static>, GuestError> {
    passwords.write().map_err(|e| GuestError::Io("passwords of the live view", e))?;
    let Some(first) = begin(display, passwords, log).await? else { return Ok(None) };
    let (display, passwords, log) = (display.to_owned(), passwords.clone(), log.clone());
    Ok(Some(async move {
        let mut running = Some(first);
        loop {
            if let Some(scraper) = &mut running {
                let _ = (&mut scraper.ended).await;
                log.line("guest", "the live view's server ended; restarting it");
            }
            sleep(PAUSE).await;
            // If the display is gone, this fails until that is noticed.
            running = begin(&display, &passwords, &log).await.ok().flatten();
        }
    }))
}

async fn begin(
    display: &str,
    passwords: &Passwords,
    log: &Log,
) -> Result<Option<Scraper>, GuestError> {
    let failed = |e: io::Error| GuestError::Io("server of the live view", e);
    // A killed server leaves its socket behind.
    let _ = fs::remove_file(passwords.socket());
    for program in PROGRAMS {
        let output = log.pipe(program).map_err(failed)?;
        let mut command = Command::new(program);
        helmdeck_spawn::inherit_nothing(&mut command);
        command.args(["-display", display, "-rfbport", "-1", "-rfbunixmode", "0600"]);
        command.arg("-rfbunixpath").arg(passwords.socket());
        command.args(["-SecurityTypes", "VncAuth", "-PasswordFile"]).arg(passwords.file());
        // The screen size must not be changed.
        command.args(["-AlwaysShared", "-AcceptSetDesktopSize=0", "-Log", "*:stderr:0"]);
        command.args(["-desktop", "helmdeck"]).stdin(Stdio::null());
        command.stderr(output.try_clone().map_err(failed)?).stdout(output);
        helmdeck_spawn::new_session(&mut command);
        helmdeck_spawn::die_with_parent(&mut command);
        match spawn(command).await {
            Ok(mut scraper) => {
                return ready(&mut scraper, passwords).await.map(|()| Some(scraper));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(GuestError::Spawn { program: program.to_owned(), source });
            }
        }
    }
    Ok(None)
}

/// Waits until its socket exists; connecting would log a failed viewer.
async fn ready(scraper: &mut Scraper, passwords: &Passwords) -> Result<(), GuestError> {
    let deadline = Instant::now() + START_DEADLINE;
    loop {
        let made = passwords.socket().exists();
        if Instant::now() > deadline {
            let seconds = START_DEADLINE.as_secs();
            return Err(GuestError::NotReady { program: "X0tigervnc", seconds });
        }
        tokio::select! {
            _ = &mut scraper.ended => return Err(GuestError::Ended("X0tigervnc")),
            // It listens a moment after creating the socket.
            () = sleep(LOOK_EVERY) => {}
        }
        if made {
            return Ok(());
        }
    }
}

/// Starts it on a thread that lives as long as the server, because a child with a parent-death
/// signal dies with the thread that started it.
async fn spawn(mut command: Command) -> io::Result<Scraper> {
    let (started, result) = oneshot::channel();
    let (over, ended) = oneshot::channel();
    let wait = move || {
        let child = command.spawn();
        // Close our copies of its output, or its end would not be noticed.
        drop(command);
        match child {
            Ok(mut child) => {
                let _ = started.send(open(child.id()).inspect_err(|_| drop(child.kill())));
                let _ = child.wait();
                let _ = over.send(());
            }
            Err(error) => {
                let _ = started.send(Err(error));
            }
        }
    };
    std::thread::Builder::new().name("scraper".into()).spawn(wait)?;
    let process = result.await.map_err(io::Error::other)??;
    Ok(Scraper { process, ended })
}

fn open(pid: u32) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(pid.cast_signed()).ok_or(io::ErrorKind::NotFound)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}
