//! Tickets: signed, so that a restarted server knows them; counted, so that one is used once at a
//! time.

use std::{collections::HashMap, sync::Arc, time::Duration};

use helmdeck_sessions::Caller;
use helmdeck_wire::{
    ErrorCode, SessionId,
    ticket::{NewTicket, Role},
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{
    auth::caller,
    error::{ApiError, ApiResult},
    password::random_hex,
    revocation::Revocations,
    token::{self, Signer, TokenError},
};

/// How long a ticket is good unless its maker says otherwise, as the address of a live view has
/// always been.
const DEFAULT_LIFE: Duration = Duration::from_secs(300);
/// Tells tickets from tokens: neither is taken for the other.
const ISSUER: &str = "helmdeck-ticket";

/// What stands in a ticket.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    /// Who made it.
    pub sub: String,
    /// The token it was made with: revoked with it.
    pub token: String,
    /// For which session.
    pub session: SessionId,
    /// What its holder may.
    pub role: Role,
    /// Whether several connections may use it at once.
    pub reusable: bool,
    /// Its own name.
    pub jti: String,
    /// Until when connections can be opened with it.
    pub exp: i64,
    iss: String,
}

impl Claims {
    /// Whoever comes with it. That the session was its maker's to show was checked when it was
    /// made, and a session's owner does not change; that it is for this session, [`check`] sees to.
    pub fn bearer(&self) -> Caller {
        let scopes = vec!["admin".to_owned()];
        Caller { subject: self.sub.clone(), scopes, token: self.jti.clone(), by_hand: true }
    }

    /// What ends a connection by it when it is revoked.
    pub fn credentials(&self) -> Vec<String> {
        vec![self.jti.clone(), self.token.clone()]
    }

    /// Until when connections can be opened with it.
    pub fn expires_at(&self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(self.exp).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }
}

/// A new ticket for a session, made with a token, and what stands in it.
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
        jti: format!("tick-{}", random_hex().map_err(TokenError::Random)?),
        // It does not outlive the token that it was made with.
        exp: end.min(token.exp),
        iss: ISSUER.to_owned(),
    };
    Ok((signer.sign(&claims)?, claims))
}

/// Whether this can be the name of a ticket.
pub fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix("tick-").unwrap_or_default();
    digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// What a ticket says, if it is good and for this session.
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
        .map_err(|_| refused("is not one of this server, or expired"))?;
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

/// Which tickets have open connections.
#[derive(Clone, Default)]
pub struct InUse {
    counts: Arc<Mutex<HashMap<String, usize>>>,
}

impl InUse {
    /// Uses a ticket until what is returned is dropped.
    pub fn begin(&self, claims: &Claims) -> ApiResult<Use> {
        let mut counts = self.counts.lock();
        let count = counts.entry(claims.jti.clone()).or_default();
        if *count > 0 && !claims.reusable {
            let message = "the ticket is for one connection, and there is one: close it first, or \
                           ask for a reusable ticket";
            return Err(ApiError::new(ErrorCode::TicketInUse, message));
        }
        *count += 1;
        Ok(Use { counts: self.counts.clone(), id: claims.jti.clone() })
    }
}

/// A connection by ticket.
pub struct Use {
    counts: Arc<Mutex<HashMap<String, usize>>>,
    id: String,
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.id);
            }
        }
    }
}
