//! One connection from a program inside to a forwarded port.

use std::{sync::Arc, time::Duration};

use helmdeck_egress::dial_loopback;
use helmdeck_link::ByteStream;
use tokio::{
    io::{AsyncRead, AsyncWrite, copy_bidirectional},
    sync::{mpsc, oneshot},
    time::timeout,
};
use tracing::debug;

use super::{Forwards, Target};

/// A connected client opens a connection within a few round trips.
const BRING_DEADLINE: Duration = Duration::from_secs(15);

impl Forwards {
    /// Carries a connection to the port outside until either side or the forward ends.
    pub async fn carry(self: Arc<Self>, port: u16, mut program: Box<dyn ByteStream>) {
        let Ok(_place) = self.connections.try_acquire() else { return };
        let Some((to, target, mut alive)) = ({
            let open = self.open.lock();
            open.get(&port).map(|open| (open.to, open.target.clone(), open.alive.subscribe()))
        }) else {
            return;
        };
        let carrying = async {
            match target {
                Target::Server => match dial_loopback(to).await {
                    Ok(mut outside) => both_ways(&mut program, &mut outside).await,
                    Err(error) => {
                        debug!(port, to, %error, "Failed to connect to the forwarded port")
                    }
                },
                Target::Client(announce) => {
                    if let Some(mut outside) = self.brought(&announce).await {
                        both_ways(&mut program, &mut outside).await;
                    }
                }
            }
        };
        tokio::select! {
            () = carrying => {}
            // An error means that the forward is gone.
            _ = alive.changed() => {}
        }
    }

    /// Requests a connection from a client.
    async fn brought(&self, announce: &mpsc::Sender<String>) -> Option<tokio::io::DuplexStream> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).ok()?;
        let name = format!("{:032x}", u128::from_ne_bytes(random));
        let (bring, brought) = oneshot::channel();
        let _waiting = Waiting { forwards: self, name: &name };
        self.waiting.lock().insert(name.clone(), bring);
        announce.try_send(name.clone()).ok()?;
        timeout(BRING_DEADLINE, brought).await.ok()?.ok()
    }
}

/// A name that is waited for. It is removed on drop.
struct Waiting<'a> {
    forwards: &'a Forwards,
    name: &'a str,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.forwards.waiting.lock().remove(self.name);
    }
}

/// Errors are ignored: most connections end this way, and dropping both tells the other side.
async fn both_ways(
    program: &mut (impl AsyncRead + AsyncWrite + Unpin),
    outside: &mut (impl AsyncRead + AsyncWrite + Unpin),
) {
    let _ = copy_bidirectional(program, outside).await;
}
