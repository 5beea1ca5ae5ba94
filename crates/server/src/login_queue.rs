//! A fair queue for password checks: few at once, round-robin between networks, so that a flood of
//! wrong passwords from one network does not delay logins from others.

use std::{collections::VecDeque, net::IpAddr, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::client_address::network;

/// Maximum number of waiting checks per network.
const WAITING_PER_NETWORK: usize = 4;
/// Maximum number of waiting networks.
const WAITING_NETWORKS: usize = 64;

/// Hands out turns.
#[derive(Clone)]
pub struct LoginQueue {
    state: Arc<Mutex<State>>,
}

struct State {
    free: usize,
    /// The next network comes first. After its turn, a network moves to the end.
    waiting: VecDeque<(IpAddr, VecDeque<oneshot::Sender<QueueTurn>>)>,
}

/// The queue is full.
#[derive(Debug, PartialEq, Eq)]
pub struct QueueFull;

impl LoginQueue {
    /// A queue with this many checks at once.
    pub fn new(at_once: usize) -> Self {
        let state = State { free: at_once, waiting: VecDeque::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Waits for a turn, which lasts until it is dropped.
    pub async fn turn(&self, peer: IpAddr) -> Result<QueueTurn, QueueFull> {
        let waiting = {
            let mut state = self.state.lock();
            if state.free > 0 {
                state.free -= 1;
                return Ok(QueueTurn { queue: self.clone() });
            }
            state.enqueue(network(peer)).ok_or(QueueFull)?
        };
        // The sender stays in the queue until it sends.
        waiting.await.map_err(|_| QueueFull)
    }

    fn pass_on(&self) {
        let next = {
            let mut state = self.state.lock();
            let next = state.dequeue();
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        if let Some(next) = next {
            // If the receiver is gone, the turn is returned, dropped and passed on.
            let _ = next.send(QueueTurn { queue: self.clone() });
        }
    }
}

impl State {
    fn enqueue(&mut self, network: IpAddr) -> Option<oneshot::Receiver<QueueTurn>> {
        let (sender, receiver) = oneshot::channel();
        let networks = self.waiting.len();
        match self.waiting.iter_mut().find(|(known, _)| *known == network) {
            Some((_, queue)) => {
                queue.retain(|sender| !sender.is_closed());
                if queue.len() >= WAITING_PER_NETWORK {
                    return None;
                }
                queue.push_back(sender);
            }
            None if networks >= WAITING_NETWORKS => return None,
            None => self.waiting.push_back((network, [sender].into())),
        }
        Some(receiver)
    }

    fn dequeue(&mut self) -> Option<oneshot::Sender<QueueTurn>> {
        loop {
            let (network, mut queue) = self.waiting.pop_front()?;
            let next = queue.pop_front();
            if !queue.is_empty() {
                self.waiting.push_back((network, queue));
            }
            if next.is_some() {
                return next;
            }
        }
    }
}

/// The right to check one password now.
pub struct QueueTurn {
    queue: LoginQueue,
}

impl Drop for QueueTurn {
    fn drop(&mut self) {
        self.queue.pass_on();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, future::BoxFuture};

    use super::*;

    fn wait(queue: &LoginQueue, peer: [u8; 4]) -> BoxFuture<'static, Result<QueueTurn, QueueFull>> {
        let queue = queue.clone();
        let mut turn = async move { queue.turn(peer.into()).await }.boxed();
        // It enters the queue now.
        match (&mut turn).now_or_never() {
            None => turn,
            Some(done) => futures_util::future::ready(done).boxed(),
        }
    }

    #[tokio::test]
    async fn a_login_from_another_network_does_not_wait_behind_a_flood() {
        let queue = LoginQueue::new(1);
        let running = queue.turn([192, 0, 2, 1].into()).await.unwrap();
        let mut flood: Vec<_> =
            (0..WAITING_PER_NETWORK).map(|_| wait(&queue, [192, 0, 2, 1])).collect();
        let mut other = wait(&queue, [198, 51, 100, 1]);
        drop(running);
        let first = flood.remove(0).await.unwrap();
        assert!((&mut other).now_or_never().is_none());
        drop(first);
        assert!(other.now_or_never().unwrap().is_ok(), "the second turn");
    }

    #[tokio::test]
    async fn one_network_has_few_waiting() {
        let queue = LoginQueue::new(1);
        let _running = queue.turn([192, 0, 2, 1].into()).await.unwrap();
        let flood: Vec<_> = (0..120).map(|_| wait(&queue, [192, 0, 2, 1])).collect();
        let refused = flood.into_iter().filter_map(FutureExt::now_or_never).count();
        assert_eq!(refused, 120 - WAITING_PER_NETWORK);
    }

    #[tokio::test]
    async fn a_turn_of_a_cancelled_login_is_passed_on() {
        let queue = LoginQueue::new(1);
        let running = queue.turn([192, 0, 2, 1].into()).await.unwrap();
        let gone = wait(&queue, [192, 0, 2, 1]);
        let stays = wait(&queue, [192, 0, 2, 1]);
        drop(gone);
        drop(running);
        drop(stays.now_or_never().unwrap().unwrap());
        assert!(queue.turn([192, 0, 2, 2].into()).now_or_never().unwrap().is_ok());
    }
}
