//! Connects to a port on this machine's loopback that is forwarded into a session.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use tokio::{net::TcpStream, time::timeout};

use crate::dial::dial;

/// Loopback answers at once, unless the program does not accept.
const DEADLINE: Duration = Duration::from_secs(10);

/// Connects to a port of `localhost`, over IPv4 or IPv6.
pub async fn dial_loopback(port: u16) -> io::Result<TcpStream> {
    let addresses: [SocketAddr; 2] =
        [(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()];
    match timeout(DEADLINE, dial(&addresses)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(failure)) => {
            Err(failure.map_or(io::ErrorKind::ConnectionRefused.into(), |failure| failure.source))
        }
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_server_on_either_loopback_address_is_found() {
        for host in ["127.0.0.1", "::1"] {
            // Without IPv6 there is nothing to test.
            let Ok(listener) = TcpListener::bind((host, 0)).await else { continue };
            let address = listener.local_addr().unwrap();
            let stream = dial_loopback(address.port()).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), address);
        }
    }
}
