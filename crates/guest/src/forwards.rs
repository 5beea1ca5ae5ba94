//! Ports on the session's loopback that the server forwards.

use std::{
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use helmdeck_wire::{ErrorBody, ErrorCode, guest::ForwardedPorts};
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::Mutex,
    task::JoinHandle,
};

use crate::{egress::Egress, error::GuestError};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 128;

/// The open ports.
#[derive(Clone, Default)]
pub struct Forwards {
    open: Arc<Mutex<BTreeMap<u16, Vec<JoinHandle<()>>>>>,
}

impl Forwards {
    /// Listens on exactly these ports. If one is in use, those before it stay open.
    pub async fn set(&self, wanted: &ForwardedPorts, egress: &Egress) -> Result<(), GuestError> {
        let mut open = self.open.lock().await;
        let closed = open.extract_if(.., |port, _| !wanted.ports.contains(port));
        for task in closed.flat_map(|(_, tasks)| tasks) {
            task.abort();
            // The port is free when the listener is gone.
            let _ = task.await;
        }
        for port in &wanted.ports {
            if open.contains_key(port) {
                continue;
            }
            let listeners = bind(*port).map_err(|error| refusal(*port, &error))?;
            let accept =
                |listener| helmdeck_task::spawn(egress.clone().accept(listener, Some(*port)));
            open.insert(*port, listeners.into_iter().map(accept).collect());
        }
        Ok(())
    }
}

/// Both loopback addresses; IPv6 only if the sandbox has it.
fn bind(port: u16) -> io::Result<Vec<TcpListener>> {
    let v4 = TcpSocket::new_v4()?;
    let mut listeners = vec![listen(v4, (Ipv4Addr::LOCALHOST, port).into())?];
    let v6 = TcpSocket::new_v6().and_then(|v6| listen(v6, (Ipv6Addr::LOCALHOST, port).into()));
    match v6 {
        Ok(listener) => listeners.push(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
        Err(_) => {}
    }
    Ok(listeners)
}

fn listen(socket: TcpSocket, address: SocketAddr) -> io::Result<TcpListener> {
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn refusal(port: u16, error: &io::Error) -> GuestError {
    let body = match error.kind() {
        io::ErrorKind::AddrInUse => ErrorBody::new(
            ErrorCode::PortInUse,
            format!(
                "port {port} is taken inside the session: end the program that listens there, or \
                 map another port, for example \"{}:localhost:{port}\"",
                port.checked_add(1).unwrap_or(8080)
            ),
        ),
        _ => ErrorBody::new(
            ErrorCode::InvalidInput,
            format!("port {port} cannot be opened inside the session: {error}"),
        ),
    };
    GuestError::Refused(body.of_field("forward"))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    fn free_port() -> u16 {
        std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    #[tokio::test]
    async fn connections_to_a_forwarded_port_carry_its_number() {
        let (forwards, egress, port) = (Forwards::default(), Egress::default(), free_port());
        forwards.set(&ForwardedPorts { ports: vec![port] }, &egress).await.unwrap();
        // The same list again changes nothing.
        forwards.set(&ForwardedPorts { ports: vec![port] }, &egress).await.unwrap();
        let _program = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        assert_eq!(egress.next_client().await.unwrap().forwarded_port, Some(port));
        forwards.set(&ForwardedPorts::default(), &egress).await.unwrap();
        assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err(), "the port is closed");
        // It can be opened again at once.
        forwards.set(&ForwardedPorts { ports: vec![port] }, &egress).await.unwrap();
    }

    #[tokio::test]
    async fn a_port_in_use_is_refused_with_its_number() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let wanted = ForwardedPorts { ports: vec![port] };
        match Forwards::default().set(&wanted, &Egress::default()).await {
            Err(GuestError::Refused(body)) => {
                assert_eq!(body.error, ErrorCode::PortInUse);
                assert!(body.message.contains(&port.to_string()), "{}", body.message);
            }
            other => panic!("{other:?}"),
        }
    }
}
