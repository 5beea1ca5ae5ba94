//! A queue that is bounded by bytes, and never makes the one who fills it wait.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// What an item costs beside its bytes, so that many empty ones are not free.
const ITEM: usize = 128;

/// Filled by the reader of the pipe, emptied by one who may be slow.
pub(crate) struct Queue<T, E> {
    state: Mutex<State<T, E>>,
    news: Notify,
    limit: usize,
}

struct State<T, E> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    /// Items thrown away since the last time this was told.
    lost: u64,
    ended: Option<E>,
}

/// What is at the head of a queue.
pub(crate) enum Next<T, E> {
    Item(T),
    /// So many items were thrown away here.
    Lost(u64),
    Ended(E),
}

/// There is no room.
pub(crate) struct Full;

impl<T, E: Copy> Queue<T, E> {
    pub fn new(limit: usize) -> Self {
        let state = State { items: VecDeque::new(), bytes: 0, lost: 0, ended: None };
        Self { state: Mutex::new(state), news: Notify::new(), limit }
    }

    /// Adds an item, unless there is no room for it. One that is larger than all the room may be
    /// there alone.
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

    /// Adds an item, and throws away the oldest ones until there is room for it.
    pub fn crowd_in(&self, item: T, bytes: usize) {
        let mut state = self.state.lock();
        while state.bytes + bytes + ITEM > self.limit && state.take().is_some() {
            state.lost += 1;
        }
        state.add(item, bytes);
        drop(state);
        self.news.notify_one();
    }

    /// Nothing comes any more; what is there can still be read. The first reason stays.
    pub fn end(&self, why: E) {
        self.state.lock().ended.get_or_insert(why);
        self.news.notify_one();
    }

    /// Like [`Self::end`], and what is there is thrown away.
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

    /// Waits for what is next. Cancel-safe; meant for one reader.
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
