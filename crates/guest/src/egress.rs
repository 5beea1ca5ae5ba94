//! Egress: programs connect to a port inside the sandbox, and the server takes over each
//! connection.
//!
//! The sandbox has no route. The guest decides nothing: the server's proxy speaks with the program
//! and dials what the policy allows, or carries the bytes of a forwarded port.

use std::{collections::VecDeque, io, net::Ipv4Addr, pin::pin, sync::Arc, time::Duration};

use helmdeck_wire::forward::PROXY_PORT;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, copy_buf},
    net::{TcpListener, TcpStream},
    sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot},
    time::{Instant, sleep, timeout, timeout_at},
};

/// The address of the proxy inside the sandbox.
pub const PROXY: &str = "http://127.0.0.1:3128";
/// The server takes over a connection in microseconds, unless it is restarting.
const HAND_OVER_DEADLINE: Duration = Duration::from_secs(10);
/// Limit on connections for each port; further ones wait in the kernel's queue. The server has a
/// lower limit and answers with a reason.
const MAX_CONNECTIONS: usize = 512;
/// Pause after a failure to accept, most likely caused by a lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const NO_SERVER: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n\
    connection: close\r\n\r\nThe helmdeck server does not answer; it may be restarting. Try again.\n";

/// A program's connection.
pub struct Client {
    /// Its byte stream.
    pub stream: TcpStream,
    /// The forwarded port it connected to; `None` for the proxy.
    pub forwarded_port: Option<u16>,
    /// Counts it as open.
    _place: OwnedSemaphorePermit,
}

/// How long a program may continue sending after the server has finished.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// The buffer for each direction.
const BUFFER: usize = 64 << 10;

impl Client {
    /// Copies bytes between the program and the server. Ends soon after the server's side, so that
    /// a program that never closes its side does not occupy a connection.
    pub async fn relay(mut self, server: impl AsyncRead + AsyncWrite) {
        let (from_program, mut to_program) = self.stream.split();
        let (from_server, mut to_server) = tokio::io::split(server);
        let up = async {
            copy_buf(&mut BufReader::with_capacity(BUFFER, from_program), &mut to_server).await?;
            to_server.shutdown().await
        };
        let down = async {
            copy_buf(&mut BufReader::with_capacity(BUFFER, from_server), &mut to_program).await?;
            to_program.shutdown().await
        };
        let (mut up, mut down) = (pin!(up), pin!(down));
        // If one side breaks, both end.
        tokio::select! {
            sent = &mut up => {
                if sent.is_ok() {
                    let _ = down.await;
                }
            }
            heard = &mut down => {
                if heard.is_ok() {
                    let _ = timeout(LAST_WORDS, up).await;
                }
            }
        }
    }
}

/// Matches programs' connections with offers of the server.
#[derive(Clone, Default)]
pub struct Egress {
    offers: Arc<Mutex<VecDeque<oneshot::Sender<Client>>>>,
    offered: Arc<Notify>,
}

impl Egress {
    /// The next program's connection. Dropping the future withdraws the offer.
    pub async fn next_client(&self) -> Option<Client> {
        let (give, given) = oneshot::channel();
        {
            let mut offers = self.offers.lock();
            offers.retain(|offer| !offer.is_closed());
            offers.push_back(give);
        }
        self.offered.notify_one();
        given.await.ok()
    }

    /// Listens for proxy connections, for the life of the guest.
    pub async fn listen(&self) -> io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT)).await?;
        helmdeck_task::spawn(self.clone().accept(listener, None));
        Ok(())
    }

    /// Hands over every connection of the listener, until the future is dropped.
    pub async fn accept(self, listener: TcpListener, forwarded_port: Option<u16>) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let egress = self.clone();
                    let client = Client { stream, forwarded_port, _place: place };
                    helmdeck_task::spawn(async move { egress.hand_over(client).await });
                }
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    async fn hand_over(&self, mut client: Client) {
        let deadline = Instant::now() + HAND_OVER_DEADLINE;
        loop {
            while let Some(offer) = self.next_offer() {
                match offer.send(client) {
                    Ok(()) => return,
                    // The server withdrew this offer.
                    Err(back) => client = back,
                }
            }
            if timeout_at(deadline, self.offered.notified()).await.is_err() {
                // On a forwarded port the protocol is unknown, so no error page is sent.
                if client.forwarded_port.is_none() {
                    let _ = client.stream.write_all(NO_SERVER).await;
                }
                return;
            }
        }
    }

    fn next_offer(&self) -> Option<oneshot::Sender<Client>> {
        self.offers.lock().pop_front()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    /// A program, and its connection as the server takes it over.
    async fn connected() -> (TcpStream, Client) {
        let (egress, places) = (Egress::default(), Arc::new(Semaphore::new(1)));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let program = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let place = places.acquire_owned().await.unwrap();
        let client = Client { stream, forwarded_port: None, _place: place };
        helmdeck_task::spawn({
            let egress = egress.clone();
            async move { egress.hand_over(client).await }
        });
        (program, egress.next_client().await.unwrap())
    }

    #[tokio::test]
    async fn a_connection_ends_soon_after_the_server_closes_it() {
        let (mut program, client) = connected().await;
        program.write_all(b"half a request").await.unwrap();
        let (mut server, ours) = duplex(1 << 10);
        let relay = helmdeck_task::spawn(client.relay(ours));
        let mut heard = [0; 14];
        server.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"half a request");
        server.write_all(b"no").await.unwrap();
        drop(server);
        timeout(Duration::from_secs(30), relay).await.expect("it ends").unwrap();
        let mut said = String::new();
        program.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "no");
    }

    #[tokio::test]
    async fn a_reset_by_the_program_ends_the_connection_to_the_server() {
        let (program, client) = connected().await;
        let (mut server, ours) = duplex(1 << 10);
        let relay = helmdeck_task::spawn(client.relay(ours));
        // This closes with a reset.
        rustix::net::sockopt::set_socket_linger(&program, Some(Duration::ZERO)).unwrap();
        drop(program);
        timeout(Duration::from_secs(30), relay).await.expect("it ends").unwrap();
        let mut heard = String::new();
        server.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "");
    }

    #[tokio::test]
    async fn a_half_closed_program_still_gets_the_answer() {
        let (mut program, client) = connected().await;
        let (mut server, ours) = duplex(1 << 10);
        let relay = helmdeck_task::spawn(client.relay(ours));
        program.write_all(b"all").await.unwrap();
        program.shutdown().await.unwrap();
        let mut heard = String::new();
        server.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "all");
        server.write_all(b"answer").await.unwrap();
        drop(server);
        timeout(Duration::from_secs(30), relay).await.expect("it ends").unwrap();
        let mut said = String::new();
        program.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "answer");
    }
}
