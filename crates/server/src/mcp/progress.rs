//! Progress notifications, so that clients keep waiting for long calls.

use std::time::Duration;

use rmcp::{RoleServer, model::ProgressNotificationParam, service::RequestContext};
use tokio::time::{Instant, interval_at};

/// How often a client hears that its call still runs. Clients give up after 30 s at the earliest.
const EVERY: Duration = Duration::from_secs(5);
/// How long the client may take to receive a notification.
const SEND_DEADLINE: Duration = Duration::from_secs(10);

/// Reports that a call runs, for as long as this is polled. Never returns.
pub async fn report(context: &RequestContext<RoleServer>, name: &str) {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let began = Instant::now();
    let mut ticks = interval_at(began + EVERY, EVERY);
    loop {
        ticks.tick().await;
        let seconds = began.elapsed().as_secs();
        let progress = ProgressNotificationParam::new(token.clone(), seconds as f64)
            .with_message(format!("{name} has been running for {seconds} s"));
        // A client that does not take it is noticed when the call ends.
        let _ = tokio::time::timeout(SEND_DEADLINE, context.peer.notify_progress(progress)).await;
    }
}
