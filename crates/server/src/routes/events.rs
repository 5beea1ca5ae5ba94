//! Live events, and recorded actions.

use std::{convert::Infallible, time::Duration};

use axum::{
    Extension,
    extract::State,
    response::sse::{Event, KeepAlive, Sse},
};
use futures_util::{Stream, stream};
use helmdeck_sessions::{Caller, EventKind, Listener, Lost};
use helmdeck_wire::{ErrorCode, SessionId, history::ActionList, session::EndReason};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    App,
    auth::{PresentedTicket, caller},
    closing::until,
    error::{ApiError, ApiResult},
    query::Params,
    ticket,
    token::Claims,
    tool::Call,
};

/// Keeps connections alive through proxies.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const MOST_ACTIONS: u32 = 1000;

/// Which events to receive.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Only events of this session; required with a ticket.
    #[schemars(regex(pattern = SessionId::PATTERN), extend("x-expected" = SessionId::EXPECTED))]
    session_id: Option<String>,
    /// A ticket instead of a token.
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "read by `auth.rs`; declared here for validation and documentation"
    )]
    ticket: Option<String>,
}

/// Which actions to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionsQuery {
    /// Number of actions, newest first; defaults to 100, at most 1000.
    limit: Option<u32>,
    /// Only actions before this number.
    before: Option<u64>,
}

/// A stream of events that ends with the server or the caller's token.
pub async fn events(
    State(app): State<App>,
    token: Option<Extension<Claims>>,
    ticket: Option<Extension<PresentedTicket>>,
    headers: HeaderMap,
    Params(query): Params<EventsQuery>,
) -> ApiResult<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let (caller, credentials, expires, watching) = match (ticket, token) {
        (Some(Extension(PresentedTicket(ticket))), _) => {
            let session = query.session_id.clone().map(SessionId::new).ok_or_else(|| {
                let message = "session_id is missing: it is required with a ticket";
                ApiError::new(ErrorCode::MissingSessionId, message)
            })?;
            let claims = ticket::check(&app.signer, &app.revoked, &ticket, &session)?;
            let watching = Some(app.tickets.feed(&claims)?);
            (claims.bearer(), claims.credentials(), claims.connection_ends(), watching)
        }
        (None, Some(Extension(token))) => {
            let caller = caller(&token);
            let credentials = vec![caller.token.clone()];
            (caller, credentials, Some(token.info().expires_at), None)
        }
        (None, None) => return Err(ApiError::internal("the request has neither token nor ticket")),
    };
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let heard = last_id.map_or(Some(app.sessions.events().last()), |id| app.event_ids.number(id));
    let events = match heard {
        Some(heard) => app.sessions.events().after(heard),
        // An id of an earlier server: events before now are lost, and the listener reports that.
        None => app.sessions.events().after(u64::MAX),
    };
    let only = query.session_id.map(SessionId::new);
    // A listener of one session gets its current state first.
    let first = if last_id.is_none() { only.clone() } else { None };
    let feed = Feed { app, caller, credentials, expires, watching, only, first, events };
    let stream = stream::unfold(feed, async |mut feed| {
        let event = feed.next().await?;
        Some((Ok(event), feed))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// The events of one listener.
struct Feed {
    app: App,
    caller: Caller,
    /// Credentials whose revocation ends it.
    credentials: Vec<String>,
    expires: Option<OffsetDateTime>,
    /// With a ticket, it ends with the stream that is watched.
    watching: Option<ticket::Feed>,
    only: Option<SessionId>,
    first: Option<SessionId>,
    events: Listener,
}

impl Feed {
    async fn next(&mut self) -> Option<Event> {
        let app = self.app.clone();
        let credentials = self.credentials.clone();
        if let Some(first) = self.first.take()
            && let Some(event) = self.tell(Some(&first), EventKind::Changed).await
        {
            return Some(event.id(app.event_ids.id(self.events.last_received())));
        }
        let mut watching = self.watching.take();
        let alone = async {
            match &mut watching {
                Some(watching) => watching.left_alone().await,
                None => std::future::pending().await,
            }
        };
        let told = tokio::select! {
            () = alone => None,
            () = app.closing.cancelled() => None,
            () = app.revoked.any_of(&credentials) => None,
            () = until(self.expires) => None,
            event = self.next_visible() => Some(event),
        };
        self.watching = watching;
        told
    }

    async fn next_visible(&mut self) -> Event {
        loop {
            let event = match self.events.next().await {
                Ok(event) => event,
                Err(Lost) => {
                    let id = self.app.event_ids.id(self.events.last_received());
                    return Event::default().id(id).event("reset").data("{}");
                }
            };
            let wanted = self.only.is_none() || self.only == event.session;
            let visible = self.caller.owns(&event.owner);
            if !wanted || !visible {
                continue;
            }
            if let Some(told) = self.tell(event.session.as_ref(), event.what).await {
                return told.id(self.app.event_ids.id(event.seq));
            }
        }
    }

    async fn tell(&self, id: Option<&SessionId>, what: EventKind) -> Option<Event> {
        match what {
            EventKind::Changed => {
                // The current state. Not found if the session is already gone.
                let session = self.app.sessions.get(&self.caller, id?).ok()?;
                let session = self.app.sessions.describe_one(&self.caller, &session).await.ok()?;
                Some(event("session", &session))
            }
            EventKind::Gone(ending) => {
                let id = id?;
                let (end_reason, ended_at) = ending.map(|it| (it.reason, it.at)).unzip();
                Some(event("session_gone", &SessionGone { id, end_reason, ended_at }))
            }
            EventKind::Acted(record) => Some(event("action", &*record)),
            EventKind::AgentStatus(status) => {
                Some(event("agent_status", &json!({ "session_id": id, "status": status })))
            }
            EventKind::IdleEnd(end) => {
                let idle_ends_at = end.and_then(|end| end.format(&Rfc3339).ok());
                let told = json!({ "session_id": id, "idle_ends_at": idle_ends_at });
                Some(event("idle", &told))
            }
            EventKind::Control(change) => {
                #[derive(Serialize)]
                struct ControlEvent<'a> {
                    session_id: &'a SessionId,
                    #[serde(flatten)]
                    control: helmdeck_wire::control::Control,
                }
                let id = id?;
                let control = change.seen_by(&self.caller.token);
                Some(event("control", &ControlEvent { session_id: id, control }))
            }
            EventKind::Vision(run) => Some(event("vision", &*run)),
            EventKind::Job(job) => Some(event("job", &*job)),
            EventKind::McpClientConnected(client) => Some(event("mcp_client_connected", &*client)),
        }
    }
}

/// A session that is forgotten, and how it ended.
#[derive(Serialize)]
struct SessionGone<'a> {
    id: &'a SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_reason: Option<EndReason>,
    #[serde(with = "time::serde::rfc3339::option", skip_serializing_if = "Option::is_none")]
    ended_at: Option<OffsetDateTime>,
}

fn event(name: &str, data: &impl Serialize) -> Event {
    // Our own types always serialize without line breaks.
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}

/// Actions of one of the caller's sessions, also after its end.
pub async fn session_actions(call: Call, query: ActionsQuery) -> ApiResult<ActionList> {
    let (before, limit) = (query.before.unwrap_or(u64::MAX), query.limit.unwrap_or(100));
    let (id, owner) = (call.session_id()?, call.caller.limited_to());
    call.app.sessions.flush().await;
    let actions = call.app.store.actions(id, owner, before, limit.min(MOST_ACTIONS)).await?;
    // An empty list may also mean that the session does not exist.
    if actions.is_empty()
        && let Err(error) = call.session()
        && error.code == ErrorCode::NotFound
        && call.app.store.ended_session(id, owner).await?.is_none()
    {
        return Err(error);
    }
    Ok(ActionList { actions })
}
