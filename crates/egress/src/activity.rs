//! Streams that record activity, and waits for inactivity.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, sleep},
};

use crate::ProxyLimits;

/// When bytes last moved on any stream of a connection.
#[derive(Debug)]
pub(crate) struct Activity {
    began: Instant,
    /// Milliseconds after `began`.
    last: AtomicU64,
    tunnel: AtomicBool,
    /// Whether one side of the tunnel has closed its sending half.
    finished: AtomicBool,
}

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            last: AtomicU64::new(0),
            tunnel: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        })
    }

    /// Waits until no byte has moved for `limit`.
    pub(crate) async fn quiet(&self, limit: Duration) {
        self.quiet_as(|_| limit, limit).await;
    }

    /// Waits until the connection has reached its idle limit.
    pub(crate) async fn idle(&self, limits: &ProxyLimits) {
        let limit = |finished| if finished { limits.half_closed } else { limits.idle };
        // Checks again after the shorter limit, which may apply by then.
        self.quiet_as(limit, limits.half_closed).await;
    }

    async fn quiet_as(&self, limit: impl Fn(bool) -> Duration, nap: Duration) {
        loop {
            let last = self.began + Duration::from_millis(self.last.load(Ordering::Relaxed));
            let limit = limit(self.finished.load(Ordering::Relaxed));
            match limit.checked_sub(last.elapsed()) {
                Some(left) if !left.is_zero() => sleep(left.min(nap)).await,
                _ => return,
            }
        }
    }

    /// Resets which streams have ended. Before the tunnel, an end only means that a server closed a
    /// kept connection.
    pub(crate) fn begin_tunnel(&self) {
        self.finished.store(false, Ordering::Relaxed);
        self.tunnel.store(true, Ordering::Relaxed);
    }

    fn end(&self) {
        self.finished.store(self.tunnel.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn note(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }
}

/// A stream that records when bytes move.
#[derive(Debug)]
pub(crate) struct Metered<S> {
    stream: S,
    activity: Arc<Activity>,
    /// A byte that was read to detect the protocol.
    unread: Option<u8>,
}

impl<S> Metered<S> {
    pub(crate) fn new(stream: S, activity: &Arc<Activity>) -> Self {
        Self { stream, activity: Arc::clone(activity), unread: None }
    }

    /// Puts a byte back in front of the unread data.
    pub(crate) fn unread(self, byte: u8) -> Self {
        Self { unread: Some(byte), ..self }
    }

    fn moved(&self, written: &io::Result<usize>) {
        if written.as_ref().is_ok_and(|count| *count > 0) {
            self.activity.note();
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        if let Some(byte) = self.unread.take() {
            buffer.put_slice(&[byte]);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() == before {
            self.activity.end();
        }
        self.activity.note();
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        self.moved(&written);
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices));
        self.moved(&written);
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
