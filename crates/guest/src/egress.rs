//! The way out: programs connect to a port inside, and the server takes each connection over.
//!
//! The sandbox has no route. Nothing is decided here; the server's proxy speaks with the program
//! and dials what the policy allows.

use std::{collections::VecDeque, io, net::Ipv4Addr, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    sync::{Notify, Semaphore, oneshot},
    time::{Instant, sleep, timeout_at},
};

/// Where programs inside find the proxy.
pub const PORT: u16 = 3128;
/// The same, as they write it.
pub const PROXY: &str = "http://127.0.0.1:3128";
/// The server takes a connection over in microseconds, unless it is being restarted.
const HAND_OVER_DEADLINE: Duration = Duration::from_secs(10);
/// More connections than this wait in the kernel's queue.
const MAX_WAITING: usize = 256;
/// After a failure to accept, most likely for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const NO_SERVER: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n\
    connection: close\r\n\r\nThe helmdeck server does not answer; it may be restarting. Try again.\n";

/// Brings programs that want out and offers of the server together.
#[derive(Clone, Default)]
pub struct Egress {
    offers: Arc<Mutex<VecDeque<oneshot::Sender<TcpStream>>>>,
    offered: Arc<Notify>,
}

impl Egress {
    /// The next program's connection. Dropping the future withdraws the offer.
    pub async fn next_client(&self) -> Option<TcpStream> {
        let (give, given) = oneshot::channel();
        {
            let mut offers = self.offers.lock();
            offers.retain(|offer| !offer.is_closed());
            offers.push_back(give);
        }
        self.offered.notify_one();
        given.await.ok()
    }

    /// Listens for programs, for the life of the guest.
    pub async fn listen(&self) -> io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).await?;
        let (egress, places) = (self.clone(), Arc::new(Semaphore::new(MAX_WAITING)));
        tokio::spawn(async move {
            loop {
                let Ok(place) = places.clone().acquire_owned().await else { return };
                match listener.accept().await {
                    Ok((client, _)) => {
                        let egress = egress.clone();
                        tokio::spawn(async move {
                            egress.hand_over(client).await;
                            drop(place);
                        });
                    }
                    Err(_) => sleep(ACCEPT_PAUSE).await,
                }
            }
        });
        Ok(())
    }

    async fn hand_over(&self, mut client: TcpStream) {
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
                let _ = client.write_all(NO_SERVER).await;
                return;
            }
        }
    }

    fn next_offer(&self) -> Option<oneshot::Sender<TcpStream>> {
        self.offers.lock().pop_front()
    }
}
