//! Follows a task as server-sent events, each a response of JSON-RPC.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::stream;
use helmdeck_wire::job::{Job, JobState};
use serde_json::{Value, json};

use super::{task::TaskView, version::Version};
use crate::{routes::jobs::changed, tool::Call};

/// How long a connection is silent at most.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A task that is followed.
pub struct Followed {
    pub call: Call,
    pub version: Version,
    /// The id of the request.
    pub id: Value,
    pub context: String,
    /// The job as it was reported last.
    pub job: Job,
}

impl Followed {
    /// The task, then its changes until it has ended. A client that disconnects does not cancel it.
    pub fn response(self) -> Response {
        let first = VecDeque::from([self.view().begun()]);
        let events = stream::unfold((self, first), async |(mut followed, mut waiting)| {
            if waiting.is_empty() && followed.job.state == JobState::Working {
                let Self { call, job, .. } = &followed;
                followed.job = changed(&call.app, &call.caller, job).await?;
                waiting.extend(followed.view().changes());
            }
            let result = waiting.pop_front()?;
            let response = json!({ "jsonrpc": "2.0", "id": followed.id, "result": result });
            let event = Event::default().json_data(&response).unwrap_or_default();
            Some((Ok::<_, Infallible>(event), (followed, waiting)))
        });
        Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
    }

    fn view(&self) -> TaskView<'_> {
        let Self { call, version, context, job, .. } = self;
        TaskView { version: *version, job, context, address: &call.address }
    }
}
