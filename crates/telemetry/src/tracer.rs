//! Starts spans, and queues those that ended.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Instant, SystemTime},
};

use tokio::sync::mpsc;

use crate::{Current, Kind, Span, SpanContext, Value, context::CURRENT};

/// Starts spans. Cheap to clone. The default one records nothing.
#[derive(Debug, Clone, Default)]
pub struct Tracer {
    queue: Option<Queue>,
}

#[derive(Debug, Clone)]
struct Queue {
    spans: mpsc::Sender<Span>,
    dropped: Arc<AtomicU64>,
}

/// A span that has not ended. Dropping it ends it.
#[derive(Debug, Default)]
pub struct ActiveSpan {
    recording: Option<Box<Recording>>,
}

#[derive(Debug)]
struct Recording {
    tracer: Tracer,
    span: Span,
    /// The duration is measured by a clock that is never set.
    began: Instant,
}

impl Tracer {
    /// A tracer whose spans are received, and how many may wait.
    pub fn new(capacity: usize) -> (Self, mpsc::Receiver<Span>) {
        let (sender, spans) = mpsc::channel(capacity.max(1));
        (Self { queue: Some(Queue { spans: sender, dropped: Arc::default() }) }, spans)
    }

    /// How many spans were lost because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.queue.as_ref().map_or(0, |queue| queue.dropped.load(Ordering::Relaxed))
    }

    /// Starts a span inside another one, or a new trace.
    pub fn start(
        &self,
        parent: Option<SpanContext>,
        name: impl FnOnce() -> String,
        kind: Kind,
    ) -> ActiveSpan {
        if self.queue.is_none() {
            return ActiveSpan::default();
        }
        let mut random = [0; 24];
        if getrandom::fill(&mut random).is_err() {
            return ActiveSpan::default();
        }
        let (mut trace, mut id) = ([0; 16], [0; 8]);
        for (to, from) in trace.iter_mut().chain(&mut id).zip(random) {
            *to = from;
        }
        let now = SystemTime::now();
        let span = Span {
            context: SpanContext { trace: parent.map_or(trace, |it| it.trace), span: id },
            parent: parent.map(|it| it.span),
            name: name(),
            kind,
            began: now,
            ended: now,
            attributes: Vec::new(),
            error: None,
        };
        let recording = Recording { tracer: self.clone(), span, began: Instant::now() };
        ActiveSpan { recording: Some(Box::new(recording)) }
    }

    fn queue(&self, span: Span) {
        if let Some(queue) = &self.queue
            && queue.spans.try_send(span).is_err()
        {
            queue.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl ActiveSpan {
    /// Its identity, if it is recorded.
    pub fn context(&self) -> Option<SpanContext> {
        self.recording.as_ref().map(|it| it.span.context)
    }

    /// Notes what is known of it.
    pub fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        if let Some(it) = &mut self.recording {
            it.span.attributes.push((key, value.into()));
        }
    }

    /// Notes that it failed, with a short code.
    pub fn fail(&mut self, code: &str) {
        if let Some(it) = &mut self.recording {
            it.span.error = Some(code.to_owned());
        }
    }

    /// Runs work whose spans are parts of this one.
    pub async fn scope<T>(&self, work: impl Future<Output = T>) -> T {
        match &self.recording {
            Some(it) => {
                let context = Some(it.span.context);
                CURRENT.scope(Current { tracer: it.tracer.clone(), context }, work).await
            }
            None => work.await,
        }
    }
}

impl Drop for ActiveSpan {
    fn drop(&mut self) {
        if let Some(it) = self.recording.take() {
            let Recording { tracer, mut span, began } = *it;
            span.ended = span.began + began.elapsed();
            tracer.queue(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{current, start};

    #[tokio::test]
    async fn spans_inside_a_span_belong_to_its_trace() {
        let (tracer, mut spans) = Tracer::new(8);
        let mut outer = tracer.start(None, || "outer".to_owned(), Kind::Server);
        outer.set("a", 1_u64);
        let later = outer
            .scope(async {
                start(|| "inner".to_owned(), Kind::Client).fail("timeout");
                current()
            })
            .await;
        let context = outer.context().unwrap();
        drop(outer);
        let inner = spans.recv().await.unwrap();
        let outer = spans.recv().await.unwrap();
        assert_eq!((inner.parent, inner.context.trace), (Some(context.span), context.trace));
        assert_eq!((inner.error.as_deref(), outer.error), (Some("timeout"), None));
        assert_eq!((outer.parent, outer.attributes), (None, vec![("a", Value::Number(1))]));
        // A task that outlives the span.
        later.scope(async { drop(start(|| "later".to_owned(), Kind::Internal)) }).await;
        assert_eq!(spans.recv().await.unwrap().parent, Some(context.span));
        assert_eq!(start(|| unreachable!("no name is made"), Kind::Internal).context(), None);
    }

    #[tokio::test]
    async fn a_full_queue_drops_spans_and_counts_them() {
        let (tracer, mut spans) = Tracer::new(2);
        for _ in 0..5 {
            tracer.start(None, || "work".to_owned(), Kind::Internal);
        }
        assert_eq!(tracer.dropped(), 3);
        assert!(spans.recv().await.is_some() && spans.recv().await.is_some());
        assert!(spans.try_recv().is_err());
    }

    #[tokio::test]
    async fn without_an_exporter_nothing_is_recorded() {
        let tracer = Tracer::default();
        let mut span = tracer.start(None, || unreachable!("no name is made"), Kind::Internal);
        span.set("a", "b");
        assert_eq!(span.context(), None);
        assert_eq!(span.scope(async { current().context }).await, None);
        drop(span);
        assert_eq!(tracer.dropped(), 0);
    }
}
