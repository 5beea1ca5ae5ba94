//! The way out: programs connect to a port inside, and the server takes each connection over.
//!
//! The sandbox has no route. Nothing is decided here; the server's proxy speaks with the program
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

/// Where programs inside find the proxy, as they write it.
pub const PROXY: &str = "http://127.0.0.1:3128";
/// The server takes a connection over in microseconds, unless it is being restarted.
const HAND_OVER_DEADLINE: Duration = Duration::from_secs(10);
/// More connections than this wait in the kernel's queue, for each port. The server turns some away
/// sooner, and says why.
const MAX_CONNECTIONS: usize = 512;
/// After a failure to accept, most likely for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const NO_SERVER: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n\
    connection: close\r\n\r\nThe helmdeck server does not answer; it may be restarting. Try again.\n";

/// A program's connection.
pub struct Client {
    /// Its bytes.
    pub stream: TcpStream,
    /// The forwarded port that it connected to; none if it wants the proxy.
    pub forwarded_port: Option<u16>,
    /// Its place among all connections, until it ends.
    _place: OwnedSemaphorePermit,
}

/// How long a program may go on sending after the server has said its last word.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// What is under way at once in either direction.
const BUFFER: usize = 64 << 10;

impl Client {
    /// Carries bytes between the program and the server. Ends soon after the server does: a program
    /// that never closes its side keeps no place.
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
        // A side that breaks ends both: the other would wait for nothing.
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

/// Brings programs that want out and offers of the server together.
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

    /// Listens for programs that want the proxy, for the life of the guest.
    pub async fn listen(&self) -> io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT)).await?;
        tokio::spawn(self.clone().accept(listener, None));
        Ok(())
    }

    /// Hands over every connection to the listener, until the future is dropped.
    pub async fn accept(self, listener: TcpListener, forwarded_port: Option<u16>) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let egress = self.clone();
                    let client = Client { stream, forwarded_port, _place: place };
                    tokio::spawn(async move { egress.hand_over(client).await });
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
                    // The server withdrew this one.
                    Err(back) => client = back,
                }
            }
            if timeout_at(deadline, self.offered.notified()).await.is_err() {
                // What a program speaks on a forwarded port is not known.
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
        tokio::spawn({
            let egress = egress.clone();
            async move { egress.hand_over(client).await }
        });
        (program, egress.next_client().await.unwrap())
    }

    #[tokio::test]
    async fn a_program_that_never_closes_its_side_loses_its_place_when_the_server_does() {
        let (mut program, client) = connected().await;
        program.write_all(b"half a request").await.unwrap();
        let (mut server, ours) = duplex(1 << 10);
        let relay = tokio::spawn(client.relay(ours));
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
    async fn a_program_that_breaks_off_ends_the_connection_to_the_server() {
        let (program, client) = connected().await;
        let (mut server, ours) = duplex(1 << 10);
        let relay = tokio::spawn(client.relay(ours));
        // Closed like this, it is a reset and not an end.
        rustix::net::sockopt::set_socket_linger(&program, Some(Duration::ZERO)).unwrap();
        drop(program);
        timeout(Duration::from_secs(30), relay).await.expect("it ends").unwrap();
        let mut heard = String::new();
        server.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "");
    }

    #[tokio::test]
    async fn a_program_that_has_said_all_still_hears_the_answer() {
        let (mut program, client) = connected().await;
        let (mut server, ours) = duplex(1 << 10);
        let relay = tokio::spawn(client.relay(ours));
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
