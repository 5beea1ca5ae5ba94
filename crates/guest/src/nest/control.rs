//! The control socket between guest and nest: requests with descriptors one way, answers back.
//!
//! Messages from inside are not trusted: they are read with limits, and can only complete pending
//! requests.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use helmdeck_wire::exec::TerminalSize;
use parking_lot::Mutex;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    sync::{Notify, oneshot},
    time::timeout,
};

use crate::{error::GuestError, log::Log};

/// The largest message; the kernel's default socket buffer is hardly larger.
const MAX_MESSAGE: usize = 200 << 10;
/// The most descriptors in one message.
const MAX_DESCRIPTORS: usize = 8;
/// fork and exec take milliseconds.
const SPAWN_DEADLINE: Duration = Duration::from_secs(10);

/// In place of a descriptor number: the descriptor belongs to the program's supervisor, which
/// reports there how the program ended.
pub const SUPERVISOR: i32 = -1;

/// A program to start.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Program {
    /// A name to look up in PATH, or a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// Its working directory; the home by default.
    pub cwd: Option<String>,
    /// The size of its terminal, if it gets one.
    pub terminal: Option<TerminalSize>,
}

/// From guest to nest.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    pub id: u64,
    pub program: Program,
    /// The numbers under which the attached descriptors are inherited.
    pub targets: Vec<i32>,
}

/// From nest to guest.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The sandbox is complete, and no program runs in it yet.
    Ready,
    /// A program runs. If it has a supervisor, the supervisor's descriptor is attached, followed by
    /// its terminal's, if it has one.
    Started { id: u64, pid: u32 },
    /// A program could not be started; `errno` is the reason.
    Failed {
        id: u64,
        errno: i32,
        /// Whether its working directory is the problem.
        in_cwd: bool,
    },
    /// A program has ended.
    Ended { pid: u32, status: String },
}

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// exec failed, or a descriptor did.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Its working directory cannot be entered.
    #[error("its working directory cannot be entered")]
    Cwd(#[source] io::Error),
    /// The nest does not answer.
    #[error("the nested sandbox does not answer")]
    NestGone,
}

/// The guest's end.
pub struct Control {
    socket: Arc<OwnedFd>,
    waiting: Waiting,
    ready: Arc<Notify>,
    next: AtomicU64,
}

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Spawned, SpawnError>>>>>;

/// A program running inside.
pub struct Spawned {
    /// Its process id inside.
    pub pid: u32,
    /// How it ended; closed without a value if the nest is gone.
    pub ended: oneshot::Receiver<String>,
    /// Descriptors attached to the answer; see [`Answer::Started`].
    pub descriptors: Vec<OwnedFd>,
}

/// Both ends of a new control socket.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

impl Control {
    /// Reads answers on a thread that ends with the nest.
    pub fn new(socket: OwnedFd, name: &'static str, log: Log) -> Result<Self, GuestError> {
        let socket = Arc::new(socket);
        let waiting = Waiting::default();
        let ready = Arc::new(Notify::new());
        let reader = (socket.clone(), waiting.clone(), ready.clone());
        std::thread::Builder::new()
            .name("nest-control".into())
            .spawn(move || read_answers(&reader.0, &reader.1, &reader.2, name, &log))
            .map_err(|e| GuestError::Io("control thread", e))?;
        Ok(Self { socket, waiting, ready, next: AtomicU64::new(1) })
    }

    /// Waits until the sandbox is complete; false on a timeout. Call it once.
    pub async fn ready(&self) -> bool {
        timeout(SPAWN_DEADLINE, self.ready.notified()).await.is_ok()
    }

    /// Starts a program inside.
    pub async fn spawn(
        &self,
        program: Program,
        descriptors: Vec<(OwnedFd, i32)>,
    ) -> Result<Spawned, SpawnError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.waiting.lock().insert(id, answer);
        let (fds, targets): (Vec<_>, Vec<_>) = descriptors.into_iter().unzip();
        let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        // A nest that was stopped by a program inside does not read; that must not block us.
        let request = Request { id, program, targets };
        if let Err(error) = send(&self.socket, &request, &borrowed, SendFlags::DONTWAIT) {
            self.waiting.lock().remove(&id);
            return Err(error.into());
        }
        match timeout(SPAWN_DEADLINE, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => {
                self.waiting.lock().remove(&id);
                Err(SpawnError::NestGone)
            }
        }
    }
}

fn read_answers(socket: &OwnedFd, waiting: &Waiting, ready: &Notify, name: &str, log: &Log) {
    let mut running: HashMap<u32, oneshot::Sender<String>> = HashMap::new();
    while let Ok(Some((answer, descriptors))) = receive::<Answer>(socket) {
        let (id, result) = match answer {
            Answer::Ready => {
                ready.notify_one();
                continue;
            }
            Answer::Started { id, pid } => (id, Ok(pid)),
            Answer::Failed { id, errno, in_cwd } => {
                let error = io::Error::from_raw_os_error(errno);
                (id, Err(if in_cwd { SpawnError::Cwd(error) } else { error.into() }))
            }
            Answer::Ended { pid, status } => {
                log.line(name, &format!("process {pid} ended: {status}"));
                if let Some(tell) = running.remove(&pid) {
                    // Most programs are not waited for.
                    let _ = tell.send(status);
                }
                continue;
            }
        };
        // Only pending requests are answered; the caller may have given up meanwhile.
        if let Some(answer) = waiting.lock().remove(&id) {
            let _ = answer.send(result.map(|pid| {
                let (tell, ended) = oneshot::channel();
                running.insert(pid, tell);
                Spawned { pid, ended, descriptors }
            }));
        }
    }
    waiting.lock().clear();
}

/// Sends one message.
pub fn send(
    socket: impl AsFd,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    if bytes.len() > MAX_MESSAGE || descriptors.len() > MAX_DESCRIPTORS {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::TOOBIG.raw_os_error()));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut ancillary, flags | SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives one message, or `None` when the other end is gone.
pub fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut slices = [IoSliceMut::new(&mut bytes)];
        match recvmsg(&socket, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?,
        }
    };
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            descriptors.extend(fds);
        }
    }
    let message = serde_json::from_slice(bytes.get(..received.bytes).unwrap_or_default())?;
    Ok(Some((message, descriptors)))
}
