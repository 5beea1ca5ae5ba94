//! Copies bytes both ways until both sides have finished or one breaks.

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

/// The buffer for each direction.
const BUFFER: usize = 32 << 10;

/// A tunnel that starts when HTTP has ended on the client's connection.
pub(crate) enum Tunnel {
    /// To a separate connection.
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
        /// Keeps the connection that provides the other side.
        carrier: Upstream,
    },
}

impl Tunnel {
    /// Copies bytes until the end. The caller watches for idleness.
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

/// Copies bytes both ways. The end of one direction is passed on while the other continues.
pub(crate) async fn carry(
    one: &mut (impl AsyncRead + AsyncWrite + Unpin),
    other: &mut (impl AsyncRead + AsyncWrite + Unpin),
    activity: &Activity,
) {
    activity.begin_tunnel();
    // Most tunnels end with a broken connection; dropping both sides closes the other.
    let _ = copy_bidirectional_with_sizes(one, other, BUFFER, BUFFER).await;
}
