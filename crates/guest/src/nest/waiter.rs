//! Waits for all programs on one thread, which is created at the start: under a fork bomb, no other
//! could be created.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::ExitStatusExt,
    },
    process::Child,
    sync::mpsc::{Receiver, Sender, channel},
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};

/// A waiting thread needs little stack.
const STACK: usize = 64 << 10;

/// Waits for programs; the thread ends with the process.
pub struct Waiter {
    new: Sender<Child>,
    wake: OwnedFd,
}

/// A program and its pidfd.
struct Watched {
    child: Child,
    over: OwnedFd,
}

impl Waiter {
    /// Starts the thread. `report` gets each program's process id and how it ended.
    pub fn start(report: impl Fn(u32, String) + Send + 'static) -> io::Result<Self> {
        let (new, arriving) = channel();
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let woken = wake.try_clone()?;
        let wait = move || wait_for_all(&arriving, &woken, &report);
        std::thread::Builder::new().stack_size(STACK).spawn(wait)?;
        Ok(Self { new, wake })
    }

    /// Adds a program to wait for.
    pub fn add(&self, child: Child) {
        // Neither fails while the thread runs, which is as long as the process.
        let _ = self.new.send(child);
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

fn wait_for_all(arriving: &Receiver<Child>, woken: &OwnedFd, report: &impl Fn(u32, String)) {
    let mut watched: Vec<Watched> = Vec::new();
    loop {
        let mut events = vec![PollFd::new(woken, PollFlags::IN)];
        events.extend(
            watched.iter().map(|w| PollFd::from_borrowed_fd(w.over.as_fd(), PollFlags::IN)),
        );
        if poll(&mut events, None).is_err() {
            continue;
        }
        let ready: Vec<bool> = events.iter().map(|event| !event.revents().is_empty()).collect();
        drop(events);
        let mut nth = 0;
        watched.retain_mut(|program| {
            nth += 1;
            let over = ready.get(nth).copied().unwrap_or(false);
            if over {
                report(program.child.id(), how_it_ended(&mut program.child));
            }
            !over
        });
        if ready.first() == Some(&true) {
            let _ = rustix::io::read(woken, &mut [0; 8]);
            while let Ok(child) = arriving.try_recv() {
                match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
                    Ok(over) => watched.push(Watched { child, over }),
                    Err(error) => report(child.id(), error.to_string()),
                }
            }
        }
    }
}

fn how_it_ended(child: &mut Child) -> String {
    match child.wait() {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "unknown".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn every_program_is_waited_for_in_any_order() {
        let (told, heard) = channel();
        let waiter = Waiter::start(move |pid, how| told.send((pid, how)).unwrap()).unwrap();
        let mut expected = Vec::new();
        for (script, how) in
            [("exit 3", "exit code 3"), ("kill -9 $$", "signal 9"), ("", "exit code 0")]
        {
            let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
            expected.push((child.id(), how.to_owned()));
            waiter.add(child);
        }
        let mut found: Vec<_> = (0..3).map(|_| heard.recv().unwrap()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }
}
