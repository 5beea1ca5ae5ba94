//! The process of ours that reads accessible elements, beside the programs that have them.
//!
//! Its answers are not trusted, because programs in its sandbox can control it: they have a limited
//! size and a deadline, and after any error another process is started.

use std::{io, os::fd::OwnedFd, process::Stdio, sync::Arc, time::Duration};

use helmdeck_atspi::{Answer, Request};
use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
        BufReader,
    },
    net::unix::pipe,
    process::{Child, Command},
    sync::Mutex,
    time::timeout,
};

use crate::nest::{Nest, PROGRAM, Program, SpawnError};

/// The largest answer.
const MAX_ANSWER: u64 = 16 << 20;
/// What an answer may take in addition to the deadline of programs.
const GRACE: Duration = Duration::from_millis(2500);
/// Its command.
const COMMAND: &str = "accessibility";

/// Where the programs are.
#[derive(Clone)]
pub enum ReaderLocation {
    /// In a nested sandbox.
    Nest(Nest),
    /// On the machine of an attached display.
    Here,
}

/// Reads elements; the process starts with the first request. A cheap handle.
#[derive(Clone, Default)]
pub struct Reader {
    process: Arc<Mutex<Option<Process>>>,
}

struct Process {
    requests: Box<dyn AsyncWrite + Send + Unpin>,
    answers: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    /// The namespace of its sandbox; 0 outside.
    namespace: u64,
    last: u64,
    /// Ends it when dropped. In a sandbox, it ends when its input is closed.
    _child: Option<Child>,
}

impl Reader {
    /// The elements of programs. The error is a sentence.
    pub async fn read(&self, beside: &ReaderLocation, request: Request) -> Result<Answer, String> {
        let (reader, beside) = (self.clone(), beside.clone());
        // To its end: a process whose answer was not read cannot be asked again.
        let reading = helmdeck_task::spawn(async move { reader.read_now(&beside, request).await });
        reading.await.unwrap_or_else(|_| Err("the accessibility reader failed".to_owned()))
    }

    async fn read_now(
        &self,
        beside: &ReaderLocation,
        mut request: Request,
    ) -> Result<Answer, String> {
        let mut kept = self.process.lock().await;
        let namespace = match beside {
            ReaderLocation::Nest(nest) => nest.process_namespace(),
            ReaderLocation::Here => 0,
        };
        let mut process = match kept.take().filter(|process| process.namespace == namespace) {
            Some(process) => process,
            None => start(beside, namespace).await.map_err(|error| failed(&error))?,
        };
        process.last += 1;
        request.id = process.last;
        let patience = Duration::from_millis(request.deadline_ms) + GRACE;
        let answer = timeout(patience, process.exchange(&request)).await;
        match answer {
            Ok(Ok(answer)) if answer.id == request.id => {
                *kept = Some(process);
                match answer.error {
                    Some(error) => Err(error),
                    None => Ok(answer),
                }
            }
            Ok(Ok(_)) => Err("the accessibility reader gave another answer than asked".to_owned()),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err("the accessibility reader did not answer in time".to_owned()),
        }
    }
}

fn failed(error: &io::Error) -> String {
    format!("accessible elements cannot be read: {error}")
}

impl Process {
    async fn exchange(&mut self, request: &Request) -> io::Result<Answer> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.requests.write_all(&line).await?;
        self.requests.flush().await?;
        let mut answer = Vec::new();
        (&mut self.answers).take(MAX_ANSWER).read_until(b'\n', &mut answer).await?;
        if answer.last() != Some(&b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_slice(&answer)?)
    }
}

async fn start(beside: &ReaderLocation, namespace: u64) -> io::Result<Process> {
    let (requests, answers, child) = match beside {
        ReaderLocation::Nest(nest) => start_inside(nest).await?,
        ReaderLocation::Here => start_here()?,
    };
    Ok(Process { requests, answers: BufReader::new(answers), namespace, last: 0, _child: child })
}

type Ends = (Box<dyn AsyncWrite + Send + Unpin>, Box<dyn AsyncRead + Send + Unpin>, Option<Child>);

async fn start_inside(nest: &Nest) -> io::Result<Ends> {
    let (input, requests) = io::pipe()?;
    let (answers, output) = io::pipe()?;
    let (requests, answers) = (OwnedFd::from(requests), OwnedFd::from(answers));
    rustix::io::ioctl_fionbio(&requests, true)?;
    rustix::io::ioctl_fionbio(&answers, true)?;
    let program = Program {
        program: PROGRAM.to_owned(),
        args: vec![COMMAND.to_owned()],
        ..Program::default()
    };
    let descriptors = vec![(input.into(), 0), (output.into(), 1)];
    match nest.require_as(program, descriptors).await {
        Ok(_) => {}
        Err(SpawnError::Io(error) | SpawnError::Cwd(error)) => return Err(error),
        Err(gone @ SpawnError::NestGone) => return Err(io::Error::other(gone)),
    }
    let requests = pipe::Sender::from_owned_fd(requests)?;
    let answers = pipe::Receiver::from_owned_fd(answers)?;
    Ok((Box::new(requests), Box::new(answers), None))
}

fn start_here() -> io::Result<Ends> {
    let mut command = Command::new(std::env::current_exe()?);
    helmdeck_spawn::inherit_nothing(command.as_std_mut());
    command.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.kill_on_drop(true).spawn()?;
    let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    Ok((Box::new(requests), Box::new(answers), Some(child)))
}
