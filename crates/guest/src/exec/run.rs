//! Runs a command from start to end.

use std::time::Duration;

use helmdeck_spawn::{Ending, ending};
use rustix::io::ioctl_fionread;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
    select,
    time::sleep,
};

use super::{
    command::{Command, Killed, Stream},
    spawn::Pipes,
};
use crate::log::Log;

/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// How a killed command ended.
const KILLED: Ending = Ending::Signaled(9);

/// Collects a command's output, and kills it when required. Returns when it has ended. Processes
/// that it left in the background write to the log from then on.
pub async fn run(command: &Command, mut pipes: Pipes, timeout: Duration, log: &Log) {
    let feeding = feed(pipes.stdin.take());
    let (stdout, stderr) = (Pump::new(Stream::Stdout), Pump::new(Stream::Stderr));
    let told = async {
        let mut status = [0; 4];
        pipes.told.read_exact(&mut status).await?;
        ending(status)
    };
    let exited = select! {
        // Nothing arrives if the program killed its supervisor.
        told = told => told.map_err(|_| Killed::Asked),
        () = sleep(timeout) => Err(Killed::TimedOut),
        why = command.killed() => Err(why),
        () = stdout.run(&mut pipes.stdout, command) => Err(Killed::Asked),
        () = stderr.run(&mut pipes.stderr, command) => Err(Killed::Asked),
        () = feeding => Err(Killed::Asked),
    };
    if exited.is_err() {
        command.tree().kill().await;
    }
    // All output of the command itself is in the pipes by now.
    drain(&pipes.stdout, Stream::Stdout, command);
    drain(&pipes.stderr, Stream::Stderr, command);
    match exited {
        Ok(ending) => {
            command.end(ending, None);
            for rest in [pipes.stdout, pipes.stderr] {
                // Otherwise remaining processes would die of a closed pipe.
                log.take(command.name(), rest);
            }
        }
        Err(why) => command.end(KILLED, Some(why)),
    }
}

/// Writes a program's input as fast as the program reads it. Does not return.
async fn feed(stdin: Option<(pipe::Sender, String)>) {
    if let Some((mut sender, text)) = stdin {
        // A program need not read all of it.
        let _ = sender.write_all(text.as_bytes()).await;
    }
    std::future::pending().await
}

/// Reads one output stream of a program.
struct Pump {
    stream: Stream,
    chunk: Vec<u8>,
}

impl Pump {
    fn new(stream: Stream) -> Self {
        Self { stream, chunk: vec![0; CHUNK] }
    }

    /// Does not return: a program may close its output before it ends.
    async fn run(mut self, from: &mut pipe::Receiver, command: &Command) {
        while let Ok(read @ 1..) = from.read(&mut self.chunk).await {
            command.push(self.stream, self.chunk.get(..read).unwrap_or_default());
        }
        std::future::pending().await
    }
}

/// Reads what is in a pipe now: other processes may write to it forever.
fn drain(from: &pipe::Receiver, stream: Stream, command: &Command) {
    let mut left = ioctl_fionread(from).unwrap_or(0);
    let mut chunk = vec![0; CHUNK];
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        match from.try_read(chunk.get_mut(..most).unwrap_or_default()) {
            Ok(read @ 1..) => {
                left = left.saturating_sub(read as u64);
                command.push(stream, chunk.get(..read).unwrap_or_default());
            }
            Ok(0) | Err(_) => return,
        }
    }
}
