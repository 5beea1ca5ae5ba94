//! Standard input and output, by lines, on separate threads: both may block.

use std::{
    io::{BufRead, Write, stdin, stdout},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use tokio::sync::mpsc;

/// Lines that wait. A full queue stops the reader, or the tasks that write.
const QUEUE: usize = 64;
/// How long the client may take to read the last lines.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Lines of the client.
pub struct Input(mpsc::Receiver<Vec<u8>>);

impl Input {
    /// Starts to read. The thread ends with the input, or with the process.
    pub fn open() -> Self {
        let (lines, input) = mpsc::channel(QUEUE);
        thread::spawn(move || {
            let mut stdin = stdin().lock();
            loop {
                let mut line = Vec::new();
                if !matches!(stdin.read_until(b'\n', &mut line), Ok(1..)) {
                    return;
                }
                let is_blank = line.trim_ascii().is_empty();
                if !is_blank && lines.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self(input)
    }

    /// The next line that is not blank. `None` when the client has closed the input.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        self.0.recv().await
    }
}

/// Lines for the client.
pub struct Output {
    lines: mpsc::Sender<String>,
    written: Receiver<()>,
}

impl Output {
    /// Starts to write. The thread ends when no sender is left, or when the client reads no longer.
    pub fn open() -> Self {
        let (lines, mut queue) = mpsc::channel::<String>(QUEUE);
        let (done, written) = channel();
        thread::spawn(move || {
            // Signals the end when it is dropped.
            let _done = done;
            let mut stdout = stdout().lock();
            while let Some(mut line) = queue.blocking_recv() {
                line.push('\n');
                if stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).is_err() {
                    return;
                }
            }
        });
        Self { lines, written }
    }

    /// Where to send lines.
    pub fn lines(&self) -> mpsc::Sender<String> {
        self.lines.clone()
    }

    /// Waits until all lines are written. All other senders must be gone.
    pub fn finish(self) {
        drop(self.lines);
        // A client that does not read cannot keep the program alive.
        let _ = self.written.recv_timeout(LAST_LINES);
    }
}
