//! Progress notifications: so that clients keep waiting for long calls, and see how far a pack is.

use std::time::Duration;

use helmdeck_wire::job::{Job, JobId};
use rmcp::{RoleServer, model::ProgressNotificationParam, service::RequestContext};
use tokio::{
    sync::watch,
    time::{Instant, interval_at, sleep},
};

use super::client::Client;

/// How often a client hears that its call still runs. Clients give up after 30 s at the earliest.
const EVERY: Duration = Duration::from_secs(5);
/// The least time between two notifications.
const GAP: Duration = Duration::from_millis(200);
/// How long the client may take to receive a notification.
const SEND_DEADLINE: Duration = Duration::from_secs(10);
/// Progress must grow with each notification, even if a pack has nothing new to say.
const LEAST: f64 = 0.001;

/// What a call tells about itself while it runs.
#[derive(Default)]
pub struct News {
    /// The job that it became.
    pub job: watch::Sender<Option<JobId>>,
}

/// Reports that a call runs, for as long as this is polled. Never returns.
pub async fn report(
    client: &Client,
    context: &RequestContext<RoleServer>,
    name: &str,
    news: &News,
) {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let began = Instant::now();
    let mut ticks = interval_at(began + EVERY, EVERY);
    let mut started = news.job.subscribe();
    let mut job = None;
    let mut has_begun = false;
    let mut last = 0.0;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            id = begun(&mut started), if !has_begun => {
                has_begun = true;
                job = client.app.packs.follow(&id);
            }
            () = changed(&mut job) => {}
        }
        let seconds = began.elapsed().as_secs();
        let latest = job.as_ref().map(|job| job.borrow().clone());
        let (progress, total, message) = progress_of(name, seconds, latest.as_ref(), last);
        last = progress;
        let mut progress =
            ProgressNotificationParam::new(token.clone(), progress).with_message(message);
        progress.total = total;
        // A client that does not take it is noticed when the call ends.
        let _ = tokio::time::timeout(SEND_DEADLINE, context.peer.notify_progress(progress)).await;
        sleep(GAP).await;
    }
}

/// The job of a call, once it has begun.
async fn begun(job: &mut watch::Receiver<Option<JobId>>) -> JobId {
    if let Ok(job) = job.wait_for(Option::is_some).await
        && let Some(id) = &*job
    {
        return id.clone();
    }
    std::future::pending().await
}

/// Resolves when a job has something new to say.
async fn changed(job: &mut Option<watch::Receiver<Job>>) {
    if let Some(job) = job
        && job.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// How far a call is, of how much, and what it does.
fn progress_of(
    name: &str,
    seconds: u64,
    job: Option<&Job>,
    last: f64,
) -> (f64, Option<f64>, String) {
    let message = job.and_then(|job| job.message.clone());
    let message = message.unwrap_or_else(|| format!("{name} has been running for {seconds} s"));
    match job {
        Some(job) => (f64::from(job.progress).max(last + LEAST), Some(100.0), message),
        None => (seconds as f64, None, message),
    }
}
