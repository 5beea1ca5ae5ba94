//! Bytes both ways, until both sides have finished or either breaks.

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, copy_bidirectional_with_sizes},
    net::TcpStream,
};

use crate::{
    activity::{Activity, Metered},
    upstream::Upstream,
};

/// Bytes under way in each direction.
const BUFFER: usize = 32 << 10;

/// A tunnel that begins as soon as HTTP has ended on the client's connection.
pub(crate) enum Tunnel {
    /// To a connection of its own.
    Connect {
        /// The client's side.
        client: OnUpgrade,
        /// The other side.
        upstream: Metered<TcpStream>,
    },
    /// To a connection on which HTTP ends as well.
    Upgrade {
        /// The client's side.
        client: OnUpgrade,
        /// The other side.
        upstream: OnUpgrade,
        /// What still has to hand over the other side.
        carrier: Upstream,
    },
}

impl Tunnel {
    /// Carries bytes until the end. Who calls it watches for idleness.
    pub(crate) async fn run(self, activity: &Activity) {
        match self {
            Self::Connect { client, mut upstream } => {
                let Ok(client) = client.await else { return };
                carry(&mut TokioIo::new(client), &mut upstream, activity).await;
            }
            Self::Upgrade { client, upstream, carrier } => {
                let (Ok(client), Ok(upstream)) = (client.await, upstream.await) else { return };
                drop(carrier);
                let (mut client, mut upstream) = (TokioIo::new(client), TokioIo::new(upstream));
                carry(&mut client, &mut upstream, activity).await;
            }
        }
    }
}

/// Carries bytes both ways; the end of one direction is passed on while the other goes on.
pub(crate) async fn carry(
    one: &mut (impl AsyncRead + AsyncWrite + Unpin),
    other: &mut (impl AsyncRead + AsyncWrite + Unpin),
    activity: &Activity,
) {
    activity.begin_tunnel();
    // A side that breaks off is how most tunnels end; dropping both tells the other.
    let _ = copy_bidirectional_with_sizes(one, other, BUFFER, BUFFER).await;
}
