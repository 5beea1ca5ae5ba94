//! A queue limited by bytes that never makes the producer wait.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The fixed cost of an item, so that many empty ones count.
const ITEM: usize = 128;

/// Filled by the reader of the pipe, emptied by a consumer that may be slow.
pub(crate) struct Queue<T, E> {
    state: Mutex<State<T, E>>,
    news: Notify,
    limit: usize,
}

struct State<T, E> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    /// Items dropped since this was last reported.
    lost: u64,
    ended: Option<E>,
}

/// The next element of a queue.
pub(crate) enum Next<T, E> {
    Item(T),
    /// This many items were dropped here.
    Lost(u64),
    Ended(E),
}

/// The queue is full.
pub(crate) struct Full;

impl<T, E: Copy> Queue<T, E> {
    pub fn new(limit: usize) -> Self {
        let state = State { items: VecDeque::new(), bytes: 0, lost: 0, ended: None };
        Self { state: Mutex::new(state), news: Notify::new(), limit }
    }

    /// Adds an item if there is room. An item larger than the limit is accepted when the queue is
    /// empty.
    pub fn push(&self, item: T, bytes: usize) -> Result<(), Full> {
        let mut state = self.state.lock();
        if !state.items.is_empty() && state.bytes + bytes + ITEM > self.limit {
            return Err(Full);
        }
        state.add(item, bytes);
        drop(state);
        self.news.notify_one();
        Ok(())
    }

    /// Adds an item, dropping the oldest ones until there is room.
    pub fn crowd_in(&self, item: T, bytes: usize) {
        let mut state = self.state.lock();
        while state.bytes + bytes + ITEM > self.limit && state.take().is_some() {
            state.lost += 1;
        }
        state.add(item, bytes);
        drop(state);
        self.news.notify_one();
    }

    /// Ends the queue; remaining items can still be read. The first reason is kept.
    pub fn end(&self, why: E) {
        self.state.lock().ended.get_or_insert(why);
        self.news.notify_one();
    }

    /// Like [`Self::end`], and drops the remaining items.
    pub fn cut(&self, why: E) {
        let mut state = self.state.lock();
        state.items = VecDeque::new();
        state.bytes = 0;
        state.ended.get_or_insert(why);
        drop(state);
        self.news.notify_one();
    }

    pub fn ended(&self) -> Option<E> {
        self.state.lock().ended
    }

    /// Keeps the items for which `wanted` is true.
    pub fn retain(&self, wanted: impl Fn(&T) -> bool) {
        let mut state = self.state.lock();
        state.items.retain(|(item, _)| wanted(item));
        state.bytes = state.items.iter().map(|(_, bytes)| bytes).sum();
    }

    /// Waits for the next element. Cancel-safe; meant for one reader.
    pub async fn next(&self) -> Next<T, E> {
        loop {
            let news = self.news.notified();
            if let Some(next) = self.state.lock().next() {
                return next;
            }
            news.await;
        }
    }
}

impl<T, E: Copy> State<T, E> {
    fn add(&mut self, item: T, bytes: usize) {
        if self.ended.is_none() {
            self.bytes += bytes + ITEM;
            self.items.push_back((item, bytes + ITEM));
        }
    }

    fn take(&mut self) -> Option<T> {
        let (item, bytes) = self.items.pop_front()?;
        self.bytes -= bytes;
        Some(item)
    }

    fn next(&mut self) -> Option<Next<T, E>> {
        match std::mem::take(&mut self.lost) {
            0 => self.take().map(Next::Item).or(self.ended.map(Next::Ended)),
            lost => Some(Next::Lost(lost)),
        }
    }
}
