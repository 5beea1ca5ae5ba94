//! The session that a client works in when a call names none.
//!
//! Each client has one: per MCP session or stream in the protocol versions that have them, per
//! `?session=NAME` in the address, and else per token. It is stored, so that a restart of the server
//! does not lose it. Streams end with the server.

use std::{collections::HashMap, sync::Arc};

use helmdeck_wire::{ErrorCode, SessionId, session::Mode};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::client::Client;
use crate::{
    error::{ApiError, ApiResult},
    tool::{Outcome, Payload, Substrate, Tool},
};

/// The most clients whose session is remembered; the store knows the sessions of all.
const MOST_CLIENTS: usize = 10_000;

/// The current sessions of clients.
#[derive(Default)]
pub struct CurrentSessions {
    /// Held by clients whose session is being created: parallel first calls share one session.
    creating: Mutex<HashMap<Key, Creation>>,
    /// What the store says, so that calls do not wait for it.
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    sessions: HashMap<Key, Option<SessionId>>,
    /// How often a session was set. What was read before that may be outdated.
    changes: u64,
}

/// An owner and the name of one of its clients.
type Key = (String, String);

/// Held while a session is being created.
type Creation = Arc<tokio::sync::Mutex<()>>;

impl Client {
    /// The client's current session, if it has one.
    pub async fn current_session(&self) -> ApiResult<Option<SessionId>> {
        let (known, key) = (&self.app.mcp.current_sessions.known, self.session_key());
        let changes = {
            let known = known.lock();
            if let Some(session) = known.sessions.get(&key) {
                return Ok(session.clone());
            }
            known.changes
        };
        let session = self.app.store.current_session(&key.0, &key.1).await?;
        let mut known = known.lock();
        if known.changes == changes {
            known.set(key, session.clone());
        }
        Ok(session)
    }

    /// Makes a session the current one, or none.
    pub async fn set_current_session(&self, session: Option<&SessionId>) -> ApiResult<()> {
        let (key, now) = (self.session_key(), OffsetDateTime::now_utc());
        self.app.store.set_current_session(&key.0, &key.1, session, now).await?;
        let mut known = self.app.mcp.current_sessions.known.lock();
        known.changes += 1;
        known.set(key, session.cloned());
        Ok(())
    }

    fn session_key(&self) -> Key {
        (self.caller.subject.clone(), self.key.clone())
    }

    /// The session for a call that names none: the current one, or a new one if the tool can start
    /// in an empty session.
    pub async fn session_for(&self, tool: &Tool) -> ApiResult<SessionId> {
        if let Some(session) = self.current_session().await? {
            return self.still_there(session).await;
        }
        let Some(mode) = starting_mode(tool) else {
            let message = "there is no current session: create one with session-create, or pass \
                           `_session_id`";
            return Err(ApiError::new(ErrorCode::MissingSessionId, message));
        };
        let creating = Creating::of(&self.app.mcp.current_sessions.creating, self.session_key());
        let _alone = creating.creation.lock().await;
        match self.current_session().await? {
            Some(session) => Ok(session),
            None => self.create(mode).await,
        }
    }

    /// A session that has ended is reported once; the next call starts a new one.
    pub async fn still_there(&self, session: SessionId) -> ApiResult<SessionId> {
        let found = self.app.sessions.get(&self.caller, &session);
        let Err(error) = found else { return Ok(session) };
        self.set_current_session(None).await?;
        let error = ApiError::from(error);
        let message = format!(
            "{}. It was the current session {session}; the next call without `_session_id` starts a \
             new one",
            error.message.trim_end_matches('.')
        );
        Err(ApiError { message, ..error })
    }

    async fn create(&self, mode: Mode) -> ApiResult<SessionId> {
        let tool = self.app.tool("session.create");
        let tool = tool.ok_or_else(|| ApiError::internal("session.create is not a tool"))?;
        let mut args = Map::new();
        args.insert("mode".to_owned(), json!(mode));
        args.insert("label".to_owned(), json!(self.name()));
        let outcome = tool.call_as(self.call(), args).await?;
        let session = created_session(&outcome)
            .ok_or_else(|| ApiError::internal("session.create answered without an id"))?;
        self.set_current_session(Some(&session)).await?;
        Ok(session)
    }
}

/// A call that waits for a session, or creates it. Its entry goes with the last one, also if that fails.
struct Creating<'a> {
    all: &'a Mutex<HashMap<Key, Creation>>,
    key: Key,
    creation: Creation,
}

impl<'a> Creating<'a> {
    fn of(all: &'a Mutex<HashMap<Key, Creation>>, key: Key) -> Self {
        let creation = all.lock().entry(key.clone()).or_default().clone();
        Self { all, key, creation }
    }
}

impl Drop for Creating<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        // One is here, and one in the map.
        if Arc::strong_count(&self.creation) <= 2 {
            all.remove(&self.key);
        }
    }
}

impl Known {
    fn set(&mut self, key: Key, session: Option<SessionId>) {
        if self.sessions.len() >= MOST_CLIENTS {
            self.sessions.clear();
        }
        self.sessions.insert(key, session);
    }
}

/// The mode of a session that is created for a tool, if the tool makes sense in a new session.
fn starting_mode(tool: &Tool) -> Option<Mode> {
    let in_sandbox = tool.nature.substrate == Substrate::Sandbox;
    tool.nature.default_mode.or(in_sandbox.then_some(Mode::Headless))
}

/// The id in the answer of `session.create`.
pub fn created_session(outcome: &Outcome) -> Option<SessionId> {
    let Payload::Json(bytes) = &outcome.payload else { return None };
    let value: Value = serde_json::from_slice(bytes).ok()?;
    Some(SessionId::new(value.get("id")?.as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_of_a_creation_that_failed_or_ended() {
        let all = Mutex::default();
        let key = ("ann".to_owned(), "name work".to_owned());
        let (one, other) = (Creating::of(&all, key.clone()), Creating::of(&all, key));
        assert!(Arc::ptr_eq(&one.creation, &other.creation), "parallel calls wait for each other");
        drop(one);
        assert_eq!(all.lock().len(), 1);
        drop(other);
        assert!(all.lock().is_empty());
    }
}
