//! The proxy of one session: accepts connections, detects their protocol, and enforces limits.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::UnixListener,
    select,
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    ConnectionGate,
    activity::{Activity, Metered},
    http, page, socks,
};

/// Limit on rejected connections that get an answer; further ones are closed without one.
const MAX_TURNED_AWAY: usize = 32;
const TURN_AWAY_DEADLINE: Duration = Duration::from_secs(2);
/// Pause after a failure to accept, most likely caused by a lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A program's connection, over any transport.
pub(crate) type Client = Box<dyn ByteStream>;

/// Any stream of bytes.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A source of connections.
pub trait Incoming: Send + 'static {
    /// The next connection. After an error, it is called again after a pause.
    fn next(&mut self) -> impl Future<Output = io::Result<Box<dyn ByteStream>>> + Send;
}

impl Incoming for UnixListener {
    async fn next(&mut self) -> io::Result<Box<dyn ByteStream>> {
        let (stream, _) = self.accept().await?;
        Ok(Box::new(stream))
    }
}

/// A running proxy. Dropping the last clone ends it and all its connections.
#[derive(Debug, Clone)]
pub struct Proxy {
    permits: Arc<Semaphore>,
    capacity: usize,
    _task: Arc<AbortOnDropHandle<()>>,
}

impl Proxy {
    /// Serves every connection; the first byte determines its protocol.
    ///
    /// Must be called on a tokio runtime.
    pub fn serve(incoming: impl Incoming, gate: ConnectionGate) -> Self {
        let capacity = gate.limits().connections;
        let permits = Arc::new(Semaphore::new(capacity));
        let task = helmdeck_task::spawn(accept(incoming, gate, Arc::clone(&permits)));
        Self { permits, capacity, _task: Arc::new(AbortOnDropHandle::new(task)) }
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.capacity.saturating_sub(self.permits.available_permits())
    }
}

async fn accept(mut incoming: impl Incoming, gate: ConnectionGate, permits: Arc<Semaphore>) {
    let turned_away = Arc::new(Semaphore::new(MAX_TURNED_AWAY));
    // INVARIANT: every task of a connection is in this set, or owned by one that is.
    let mut connections = JoinSet::new();
    loop {
        match incoming.next().await {
            Ok(stream) => {
                if let Ok(permit) = Arc::clone(&permits).try_acquire_owned() {
                    connections.spawn(serve(stream, gate.clone(), permit));
                } else if let Ok(permit) = Arc::clone(&turned_away).try_acquire_owned() {
                    connections.spawn(turn_away(stream, permit));
                }
            }
            Err(error) => pause(&error).await,
        }
        // Remove finished tasks.
        while connections.try_join_next().is_some() {}
    }
}

async fn pause(error: &io::Error) {
    tracing::warn!(%error, "Egress proxy could not accept a connection");
    sleep(ACCEPT_PAUSE).await;
}

async fn serve(stream: Client, gate: ConnectionGate, _permit: OwnedSemaphorePermit) {
    let activity = Activity::new();
    select! {
        () = speak(stream, &gate, &activity) => {}
        () = activity.idle(gate.limits()) => {}
    }
}

async fn speak(stream: Client, gate: &ConnectionGate, activity: &Arc<Activity>) {
    let mut stream = Metered::new(stream, activity);
    let first = timeout(gate.limits().head, stream.read_u8()).await;
    let Ok(Ok(first)) = first else { return };
    let stream = stream.unread(first);
    match first {
        socks::VERSION => socks::serve(stream, gate, activity).await,
        socks::VERSION_4 => socks::refuse_4(stream).await,
        _ => http::serve(stream, gate, activity).await,
    }
}

/// Answers a connection over the limit, after the first bytes of its request.
async fn turn_away(mut stream: Client, _permit: OwnedSemaphorePermit) {
    let answering = async {
        let mut ignored = [0; 4096];
        let _ = stream.read(&mut ignored).await?;
        stream.write_all(page::OVERLOADED).await?;
        stream.shutdown().await
    };
    let _ = timeout(TURN_AWAY_DEADLINE, answering).await;
}
