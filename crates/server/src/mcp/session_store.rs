//! MCP sessions that outlive the server.
//!
//! rmcp asks this store when a client comes with a session that is not in memory, so that a restart
//! never answers "Session not found". Only the owner of a session finds it.

use std::sync::Weak;

use async_trait::async_trait;
use rmcp::transport::streamable_http_server::session::{
    SessionState, SessionStore, SessionStoreError,
};
use time::OffsetDateTime;

use crate::app::{App, Parts};

tokio::task_local! {
    /// Whose request is being served.
    pub static OWNER: String;
}

/// The store, without keeping the server alive.
pub struct StoredSessions(pub Weak<Parts>);

impl StoredSessions {
    fn app(&self) -> Result<App, SessionStoreError> {
        App::upgrade(&self.0).ok_or_else(|| "the server has stopped".into())
    }
}

fn owner() -> Result<String, SessionStoreError> {
    OWNER.try_with(Clone::clone).map_err(Into::into)
}

#[async_trait]
impl SessionStore for StoredSessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let (store, owner) = (self.app()?.store.clone(), owner()?);
        let initialize = store.mcp_session(id, &owner).await?;
        if initialize.is_some() {
            // What is not used for long is forgotten.
            store.use_mcp_session(id, &owner, OffsetDateTime::now_utc()).await?;
        }
        let params = initialize.map(|text| serde_json::from_str(&text)).transpose()?;
        Ok(params.map(SessionState::new))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let initialize = serde_json::to_string(&state.initialize_params)?;
        let now = OffsetDateTime::now_utc();
        Ok(self.app()?.store.add_mcp_session(id, &owner()?, &initialize, now).await?)
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        Ok(self.app()?.store.remove_mcp_session(id, &owner()?).await?)
    }
}
