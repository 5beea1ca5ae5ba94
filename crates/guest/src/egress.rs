//! The way out: programs connect to a port inside, and the server takes each connection over.
//!
//! The sandbox has no route. Nothing is decided here; the server's proxy speaks with the program
//! and dials what the policy allows, or carries the bytes of a forwarded port.

use std::{collections::VecDeque, io, net::Ipv4Addr, sync::Arc, time::Duration};

use helmdeck_wire::forward::PROXY_PORT;
use parking_lot::Mutex;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    sync::{Notify, Semaphore, oneshot},
    time::{Instant, sleep, timeout_at},
};

/// Where programs inside find the proxy, as they write it.
pub const PROXY: &str = "http://127.0.0.1:3128";
/// The server takes a connection over in microseconds, unless it is being restarted.
const HAND_OVER_DEADLINE: Duration = Duration::from_secs(10);
/// More connections than this wait in the kernel's queue, for each port.
const MAX_WAITING: usize = 256;
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
        let places = Arc::new(Semaphore::new(MAX_WAITING));
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let egress = self.clone();
                    tokio::spawn(async move {
                        egress.hand_over(Client { stream, forwarded_port }).await;
                        drop(place);
                    });
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
