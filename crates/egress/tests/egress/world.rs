//! A proxy on a unix socket with its surroundings, and small clients.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use helmdeck_egress::{
    Cidr, ConnectionGate, Decision, Policy, Proxy, ProxyLimits, Resolve, Verdict, Via,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional_with_sizes},
    net::{TcpListener, UnixListener, UnixStream},
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;

/// The guest's buffer in each direction.
const BUFFER: usize = 64 << 10;

pub const ALLOWED: &str = "127.0.0.2";
pub const DENIED: &str = "127.0.0.3";

/// A proxy that opens only 127.0.0.2.
pub struct World {
    pub proxy: Proxy,
    decisions: Arc<Mutex<Vec<Decision>>>,
    path: PathBuf,
    _folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        Self::with(ProxyLimits::default(), Names::none())
    }

    pub fn with(limits: ProxyLimits, names: Names) -> Self {
        Self::of(Policy::new(Cidr::list("127.0.0.2/32").unwrap(), []), limits, names)
    }

    pub fn of(policy: Policy, limits: ProxyLimits, names: Names) -> Self {
        Self::leaving(policy, limits, names, None)
    }

    /// A proxy with an upstream proxy.
    pub fn leaving(policy: Policy, limits: ProxyLimits, names: Names, via: Option<Via>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("egress.sock");
        let decisions = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&decisions);
        let gate = ConnectionGate::new(policy)
            .leaving(via)
            .with_resolver(names)
            .with_limits(limits)
            .with_observer(move |decision| seen.lock().unwrap().push(decision));
        let proxy = Proxy::serve(UnixListener::bind(&path).unwrap(), gate);
        Self { proxy, decisions, path, _folder: folder }
    }

    pub async fn connect(&self) -> UnixStream {
        UnixStream::connect(&self.path).await.unwrap()
    }

    /// Sends bytes on a new connection, and reads until the proxy closes it.
    pub async fn say(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.unwrap();
        rest(&mut stream).await
    }

    /// Requests a URL on a separate connection.
    pub async fn ask(&self, url: &str) -> String {
        self.say(format!("GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await
    }

    pub fn decisions(&self) -> Vec<Decision> {
        self.decisions.lock().unwrap().clone()
    }

    pub fn verdicts(&self) -> Vec<Verdict> {
        self.decisions().into_iter().map(|decision| decision.verdict).collect()
    }

    /// The proxy on a TCP port, as the guest provides it inside a sandbox.
    pub async fn port(&self) -> Front {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let path = self.path.clone();
        let task = tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                client.set_nodelay(true).unwrap();
                let path = path.clone();
                tokio::spawn(async move {
                    let mut socket = UnixStream::connect(path).await.unwrap();
                    let _ = copy_bidirectional_with_sizes(&mut client, &mut socket, BUFFER, BUFFER)
                        .await;
                });
            }
        });
        Front { address, _task: AbortOnDropHandle::new(task) }
    }
}

pub struct Front {
    pub address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

/// Reads until the end.
pub async fn rest(stream: &mut UnixStream) -> String {
    let mut bytes = Vec::new();
    let reading = stream.read_to_end(&mut bytes);
    // A reset after the answer counts as an end, too.
    let _ = timeout(Duration::from_secs(20), reading).await.expect("the proxy closes");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads the head of a response.
pub async fn head(stream: &mut UnixStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let byte = timeout(Duration::from_secs(20), stream.read_u8()).await.expect("an answer");
        bytes.push(byte.expect("a whole head"));
    }
    String::from_utf8(bytes).unwrap()
}

/// Answers in order, the same list for each name; the last answer repeats.
#[derive(Clone)]
pub struct Names {
    answers: Arc<Vec<Vec<IpAddr>>>,
    pub asked: Arc<AtomicUsize>,
}

impl Names {
    pub fn none() -> Self {
        Self::of(&[])
    }

    pub fn of(answers: &[&[&str]]) -> Self {
        let parsed =
            answers.iter().map(|answer| answer.iter().map(|a| a.parse().unwrap()).collect());
        Self { answers: Arc::new(parsed.collect()), asked: Arc::default() }
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        if name == "never.test" {
            std::future::pending::<()>().await;
        }
        let answer = self.answers.get(turn).or(self.answers.last());
        answer.cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such name"))
    }
}
