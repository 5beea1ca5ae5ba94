//! MCP clients that have connected, by token. Kept in memory and saved once a minute.

use std::{collections::HashMap, sync::Arc};

use helmdeck_sessions::{EventKind, Events};
use helmdeck_store::{Store, StoreError, TokenClient};
use helmdeck_wire::{connect::Connected, token::McpClient};
use parking_lot::Mutex;
use time::{Duration, OffsetDateTime};

use crate::{auth, token::Claims};

/// Limit on the name and version of a client, in characters.
const MAX_TEXT: usize = 100;
/// How often a client that keeps connecting is announced.
const ANNOUNCE_EVERY: Duration = Duration::minutes(1);

/// An MCP client, as it introduces itself.
#[derive(Debug, Clone)]
pub struct SeenClient {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The revision of MCP that it speaks.
    pub protocol_version: String,
    /// How it connects: `http`, `sse` or `stdio`.
    pub transport: String,
}

/// The last client of each token.
pub struct McpClients {
    events: Events,
    by_token: Mutex<HashMap<String, Entry>>,
}

struct Entry {
    client: McpClient,
    /// When the token expires; the entry is removed then.
    expires_at: OffsetDateTime,
    announced_at: OffsetDateTime,
    unsaved: bool,
}

impl McpClients {
    /// Loads the clients from the store.
    pub async fn load(store: &Store, events: Events) -> Result<Self, StoreError> {
        let entry = |TokenClient { token, expires_at, client }| {
            let announced_at = client.last_seen;
            (token, Entry { client, expires_at, announced_at, unsaved: false })
        };
        let by_token = store.mcp_clients().await?.into_iter().map(entry).collect();
        Ok(Self { events, by_token: Mutex::new(by_token) })
    }

    /// Records that a client connected with this token. Publishes an event for the token's owner if
    /// the client is new, or was last announced more than a minute ago, and then returns the client.
    pub fn seen(&self, claims: &Claims, seen: SeenClient) -> Option<McpClient> {
        let token = auth::caller(claims).token;
        let now = OffsetDateTime::now_utc();
        let mut client = McpClient {
            name: printable(&seen.name),
            version: printable(&seen.version),
            protocol_version: printable(&seen.protocol_version),
            transport: printable(&seen.transport),
            first_seen: now,
            last_seen: now,
        };
        let is_news = {
            let mut by_token = self.by_token.lock();
            let known = by_token.get(&token);
            let same = known.filter(|known| known.client.name == client.name);
            client.first_seen = same.map_or(now, |known| known.client.first_seen);
            let announced_at = same.map(|known| known.announced_at);
            let is_news = announced_at.is_none_or(|at| now - at >= ANNOUNCE_EVERY);
            let entry = Entry {
                client: client.clone(),
                expires_at: claims.info().expires_at,
                announced_at: announced_at.filter(|_| !is_news).unwrap_or(now),
                unsaved: true,
            };
            by_token.insert(token.clone(), entry);
            is_news
        };
        if !is_news {
            return None;
        }
        tracing::info!(client = client.name, version = client.version, "MCP client connected");
        let McpClient { name, version, last_seen, .. } = client.clone();
        let label = claims.client.clone();
        let connected = Connected { token_id: token, label, name, version, last_seen };
        let what = EventKind::McpClientConnected(Arc::new(connected));
        self.events.tell_owner(&claims.sub, what);
        Some(client)
    }

    /// The client that last connected with a token.
    pub fn of_token(&self, token: &str) -> Option<McpClient> {
        self.by_token.lock().get(token).map(|entry| entry.client.clone())
    }

    /// Saves what is new, and removes clients of expired tokens.
    pub async fn save(&self, store: &Store) -> Result<(), StoreError> {
        let now = OffsetDateTime::now_utc();
        let unsaved: Vec<_> = {
            let mut by_token = self.by_token.lock();
            by_token.retain(|_, entry| entry.expires_at > now);
            let unsaved = by_token.iter().filter(|(_, entry)| entry.unsaved);
            unsaved.map(|(token, entry)| (token.clone(), entry.client.clone())).collect()
        };
        if unsaved.is_empty() {
            return Ok(());
        }
        store.save_mcp_clients(&unsaved).await?;
        let mut by_token = self.by_token.lock();
        for (token, saved) in unsaved {
            if let Some(entry) = by_token.get_mut(&token).filter(|entry| entry.client == saved) {
                entry.unsaved = false;
            }
        }
        Ok(())
    }
}

/// A client's text, limited and on one line.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::token::TokenInfo;

    use super::*;

    fn claims(id: &str) -> Claims {
        Claims {
            sub: "ann".into(),
            name: None,
            client: Some("my laptop".into()),
            human: false,
            scopes: Vec::new(),
            iat: 0,
            nbf: 0,
            exp: OffsetDateTime::now_utc().unix_timestamp() + 3600,
            jti: id.into(),
            iss: "helmdeck".into(),
        }
    }

    fn introduced(name: &str) -> SeenClient {
        SeenClient {
            name: name.into(),
            version: "1.0\n".into(),
            protocol_version: "2025-11-25".into(),
            transport: "http".into(),
        }
    }

    async fn listed(store: &Store, id: &str) -> TokenInfo {
        let info = claims(id).info();
        store.add_token(&info, OffsetDateTime::UNIX_EPOCH).await.unwrap();
        info
    }

    #[tokio::test]
    async fn an_event_is_published_once_per_client() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let events = Events::default();
        let clients = McpClients::load(&store, events.clone()).await.unwrap();
        for name in ["claude-code", "claude-code", "gemini-cli"] {
            clients.seen(&claims("t1"), introduced(name));
        }
        assert_eq!(events.last(), 2);
        let mut listener = events.after(0);
        let first = listener.next().await.unwrap();
        assert_eq!((first.owner.as_str(), first.session), ("ann", None));
        let EventKind::McpClientConnected(connected) = first.what else { panic!("another event") };
        assert_eq!((connected.token_id.as_str(), connected.version.as_str()), ("t1", "1.0"));
        assert_eq!(connected.label.as_deref(), Some("my laptop"));
        assert_eq!(clients.of_token("t1").unwrap().name, "gemini-cli");
        assert_eq!(clients.of_token("t2"), None);
    }

    #[tokio::test]
    async fn clients_survive_a_restart_with_the_time_of_their_first_connection() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        listed(&store, "t1").await;
        let clients = McpClients::load(&store, Events::default()).await.unwrap();
        clients.seen(&claims("t1"), introduced("codex"));
        clients.seen(&claims("unlisted"), introduced("codex"));
        clients.save(&store).await.unwrap();
        let before = clients.of_token("t1").unwrap();

        let clients = McpClients::load(&store, Events::default()).await.unwrap();
        assert_eq!(clients.of_token("t1"), Some(before.clone()));
        assert_eq!(clients.of_token("unlisted"), None);
        clients.seen(&claims("t1"), introduced("codex"));
        let again = clients.of_token("t1").unwrap();
        assert_eq!(again.first_seen, before.first_seen);
        assert!(again.last_seen > before.last_seen);
    }
}
