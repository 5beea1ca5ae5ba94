//! Tickets: signed, so that they survive a restart of the server, and counted, so that each is used
//! once at a time.

mod in_use;

use std::time::Duration;

use helmdeck_sessions::Caller;
use helmdeck_wire::{
    ErrorCode, SessionId,
    history::ActorKind,
    ticket::{NewTicket, Role},
};
pub use in_use::{Feed, InUse, Kind, Stream};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{
    auth::caller,
    error::{ApiError, ApiResult},
    password::random_hex,
    revocation::Revocations,
    token::{self, Signer, TokenError},
};

/// Default lifetime of a ticket.
const DEFAULT_LIFE: Duration = Duration::from_secs(300);
/// Distinguishes tickets from tokens.
const ISSUER: &str = "helmdeck-ticket";

/// Content of a ticket.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    /// Subject that created it.
    pub sub: String,
    /// Id of the token that created it. Its revocation includes the ticket.
    pub token: String,
    /// The session.
    pub session: SessionId,
    /// What its holder may do.
    pub role: Role,
    /// Whether several viewers may use it at once.
    pub reusable: bool,
    /// Maximum duration of a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_connection_s: Option<u64>,
    /// Who it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Id of the ticket.
    pub jti: String,
    /// When it expires. Open connections are not affected.
    pub exp: i64,
    iss: String,
}

impl Claims {
    /// The caller that uses it. Access to the session was checked when the ticket was created, and
    /// a session's owner does not change. [`check`] verifies that it is for this session.
    pub fn bearer(&self) -> Caller {
        let scopes = vec!["admin".to_owned()];
        let (subject, token, label) = (self.sub.clone(), self.jti.clone(), self.label.clone());
        Caller { subject, scopes, token, kind: ActorKind::Link, label, address: None }
    }

    /// Ids whose revocation ends its connections.
    pub fn credentials(&self) -> Vec<String> {
        vec![self.jti.clone(), self.token.clone()]
    }

    /// When it expires. Open connections are not affected.
    pub fn expires_at(&self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(self.exp).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    /// When a connection that opens now must end, if it must.
    pub fn connection_ends(&self) -> Option<OffsetDateTime> {
        let most = Duration::from_secs(self.max_connection_s?);
        Some(OffsetDateTime::now_utc() + most)
    }
}

/// Creates a ticket for a session with a token. Returns it with its content.
pub fn issue(
    signer: &Signer,
    token: &token::Claims,
    session: &SessionId,
    wanted: &NewTicket,
) -> Result<(String, Claims), TokenError> {
    let caller = caller(token);
    let life = wanted.ttl_seconds.map_or(DEFAULT_LIFE, Duration::from_secs);
    let end = (OffsetDateTime::now_utc() + life).unix_timestamp();
    let claims = Claims {
        sub: caller.subject,
        token: caller.token,
        session: session.clone(),
        role: wanted.role,
        reusable: wanted.reusable,
        max_connection_s: wanted.max_connection_s,
        label: wanted.label.clone(),
        jti: new_id(signer, session)?,
        // It does not outlive the token that created it.
        exp: end.min(token.exp),
        iss: ISSUER.to_owned(),
    };
    Ok((signer.sign(&claims)?, claims))
}

fn new_id(signer: &Signer, session: &SessionId) -> Result<String, TokenError> {
    let random = random_hex().map_err(TokenError::Random)?;
    let stamp = signer.stamp(&format!("{session} {random}"))?;
    Ok(format!("tick-{random}-{stamp}"))
}

/// Whether this is the id of a ticket that this server created for the session.
pub fn is_id_of(signer: &Signer, session: &SessionId, id: &str) -> Result<bool, TokenError> {
    let parts = id.strip_prefix("tick-").and_then(|rest| rest.split_once('-'));
    let Some((random, stamp)) = parts else { return Ok(false) };
    Ok(signer.stamp(&format!("{session} {random}"))? == stamp)
}

/// The id of a valid ticket of this server that has not expired.
pub fn id_if_signed(signer: &Signer, ticket: &str) -> Option<String> {
    signer.read::<Claims>(ticket, ISSUER).ok().map(|claims| claims.jti)
}

/// Verifies that a ticket is valid for this session.
pub fn check(
    signer: &Signer,
    revoked: &Revocations,
    ticket: &str,
    session: &SessionId,
) -> ApiResult<Claims> {
    let refused = |reason: &str| {
        let message = format!("the ticket {reason}: ask for a new one at {}", path(session));
        ApiError::new(ErrorCode::InvalidTicket, message)
    };
    let claims: Claims = signer
        .read(ticket, ISSUER)
        .map_err(|_| refused("is not from this server or has expired"))?;
    if revoked.contains(&claims.jti) || revoked.contains(&claims.token) {
        return Err(refused("is revoked"));
    }
    if claims.session != *session {
        return Err(refused("is for another session"));
    }
    Ok(claims)
}

fn path(session: &SessionId) -> String {
    format!("/api/v1/sessions/{session}/tickets")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn only_ids_made_here_for_this_session_name_a_ticket() {
        let secret = "k".repeat(32);
        let env = [("HELMDECK_JWT_SECRET", secret.as_str()), ("HELMDECK_DATA_DIR", "/nonexistent")];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let signer = Signer::load(&Config::load(None, env).unwrap()).unwrap();
        let (ours, other) = (SessionId::new("sess-a"), SessionId::new("sess-b"));
        let id = new_id(&signer, &ours).unwrap();
        let known = |session, id: &str| is_id_of(&signer, session, id).unwrap();
        assert!(known(&ours, &id));
        assert!(!known(&other, &id), "another session's");
        let made_up = format!("tick-{}", "0".repeat(32));
        for id in ["", "tick-", "tick--", made_up.as_str(), &format!("{made_up}-AAAAAAAAAAAAAAAA")]
        {
            assert!(!known(&ours, id), "{id:?}");
        }
    }
}
