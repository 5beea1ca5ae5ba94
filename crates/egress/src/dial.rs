//! Connects to the first of several checked addresses that answers.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{net::TcpStream, task::JoinSet, time::timeout};

/// How long each address is tried alone before the next one.
const HEAD_START: Duration = Duration::from_millis(250);

/// Connects to the first of `addresses` that answers; each has a head start over the next. The
/// caller sets the deadline.
///
/// If all fail, returns the last failure; without addresses, returns `None`.
pub(crate) async fn dial(addresses: &[SocketAddr]) -> Result<TcpStream, Option<Unreachable>> {
    let mut waiting = addresses.iter().copied();
    // Dropped with this future, together with all slower attempts.
    let mut attempts = JoinSet::new();
    let mut last = None;
    loop {
        let next = waiting.next();
        let patience = match next {
            Some(address) => {
                attempts.spawn(attempt(address));
                Some(HEAD_START)
            }
            None => None,
        };
        match first(&mut attempts, patience).await {
            Attempt::Connected(stream) => return Ok(stream),
            Attempt::Failed(failure) => last = Some(failure),
            Attempt::Slow => {}
            Attempt::None => return Err(last),
        }
    }
}

/// An address and why the connection failed.
pub(crate) struct Unreachable {
    pub(crate) address: SocketAddr,
    pub(crate) source: io::Error,
}

enum Attempt {
    Connected(TcpStream),
    Failed(Unreachable),
    Slow,
    None,
}

async fn attempt(address: SocketAddr) -> Result<TcpStream, Unreachable> {
    let failed = |source| Unreachable { address, source };
    let stream = TcpStream::connect(address).await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    Ok(stream)
}

/// The next attempt that ends, or `Slow` after `patience`.
async fn first(
    attempts: &mut JoinSet<Result<TcpStream, Unreachable>>,
    patience: Option<Duration>,
) -> Attempt {
    let ended = match patience {
        Some(patience) => match timeout(patience, attempts.join_next()).await {
            Ok(ended) => ended,
            Err(_) => return Attempt::Slow,
        },
        None => attempts.join_next().await,
    };
    match ended {
        Some(Ok(Ok(stream))) => Attempt::Connected(stream),
        Some(Ok(Err(failure))) => Attempt::Failed(failure),
        // Attempts are not aborted while the set exists.
        Some(Err(_)) => Attempt::Slow,
        None => Attempt::None,
    }
}
