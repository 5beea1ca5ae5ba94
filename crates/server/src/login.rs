//! Login with user name and password.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use helmdeck_store::{Audit, AuditEntry, Store};
use helmdeck_wire::{
    ErrorCode,
    audit::Severity,
    error::with_causes,
    history::{Actor, ActorKind},
    token::TokenInfo,
};
use parking_lot::Mutex;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{
    App,
    error::{ApiError, ApiResult},
    login_queue::{LoginQueue, QueueFull, QueueTurn},
    login_throttle::LoginThrottle,
    password::{self, Checker},
    token::Grant,
};

/// Lifetime of a login's token.
const TOKEN_LIFE: Duration = Duration::from_secs(12 * 3600);
/// Maximum number of simultaneous password checks. Each uses 19 MB and a core.
const CHECKS_AT_ONCE: usize = 2;

/// Log in with the admin's user name and password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// The user name.
    #[schemars(length(min = 1, max = 200), extend("x-missing" = "missing_credentials"))]
    pub username: String,
    /// The password.
    #[schemars(with = "String", length(min = 1, max = 1000))]
    #[schemars(extend("x-missing" = "missing_credentials", "x-secret" = true))]
    pub password: SecretString,
}

/// A token for the admin.
#[derive(Serialize, JsonSchema)]
pub struct LoggedIn {
    /// Send it as `Authorization: Bearer <token>`.
    pub token: String,
    /// The token's subject.
    pub subject: String,
    /// When the token expires.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
}

/// Checks passwords, with delays after failures.
pub struct Login {
    throttle: Mutex<LoginThrottle>,
    queue: LoginQueue,
    checker: Checker,
}

impl Login {
    pub fn new() -> Self {
        let queue = LoginQueue::new(CHECKS_AT_ONCE);
        Self { throttle: Mutex::default(), queue, checker: Checker::default() }
    }

    /// Returns a token if the password is right.
    pub async fn log_in(
        &self,
        app: &App,
        credentials: Credentials,
        peer: IpAddr,
    ) -> ApiResult<LoggedIn> {
        let (store, audit) = (&app.store, &app.audit);
        let Credentials { username, password } = credentials;
        let throttled = |refused| {
            record_throttled(audit, peer);
            refused
        };
        let turn = self.queue.turn(peer).await.map_err(|QueueFull| throttled(crowded()))?;
        let admitted = self.throttle.lock().admit(&username, peer, Instant::now());
        admitted.map_err(|wait| throttled(slow_down(wait)))?;
        let checked = self.check(store, &username, password, turn).await?;
        if checked != Checked::Right {
            record_failed(audit, &username, checked, peer);
            let message = "user name or password is wrong; `helmdeck admin reset-password` on the \
                           server's machine creates a new one";
            return Err(ApiError::new(ErrorCode::InvalidCredentials, message));
        }
        self.throttle.lock().forgive(&username, peer);
        let now = OffsetDateTime::now_utc();
        let scopes = ["admin".to_owned()];
        // A login always counts as a person.
        let (label, human) = (Some("ui"), true);
        let grant = Grant { subject: &username, label, human, scopes: &scopes, ttl: TOKEN_LIFE };
        let (token, claims) = app.signer.mint(&grant)?;
        let info = claims.info();
        if let Err(error) = store.add_token(&info, now).await {
            // A full disk must not lock people out. The token is valid but not listed.
            tracing::warn!(error = with_causes(&error), "Failed to list a token");
        }
        record_succeeded(audit, &info, peer);
        Ok(LoggedIn { token, subject: username, expires_at: info.expires_at })
    }

    /// Does the same work for unknown and known names. A client that disconnects does not end a
    /// check, which keeps its turn.
    async fn check(
        &self,
        store: &Store,
        username: &str,
        password: SecretString,
        turn: QueueTurn,
    ) -> ApiResult<Checked> {
        let admin = store.admin().await?.filter(|admin| admin.username == username);
        let known = admin.is_some();
        let hash = admin.map_or_else(|| password::DECOY.to_owned(), |admin| admin.password_hash);
        let fits = self.checker.fits(password, hash, turn).await.map_err(ApiError::internal)?;
        Ok(match (known, fits) {
            (true, true) => Checked::Right,
            (true, false) => Checked::WrongPassword,
            (false, _) => Checked::UnknownName,
        })
    }
}

/// Whether credentials are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checked {
    Right,
    WrongPassword,
    UnknownName,
}

fn record_succeeded(audit: &Audit, token: &TokenInfo, peer: IpAddr) {
    let actor = Actor {
        kind: ActorKind::Human,
        subject: token.subject.clone(),
        label: token.client.clone(),
        address: Some(peer),
    };
    audit.record(
        AuditEntry::new("login.succeeded").actor(actor).detail("token_id", token.id.as_str()),
    );
}

fn record_failed(audit: &Audit, username: &str, checked: Checked, peer: IpAddr) {
    let entry = AuditEntry::new("login.failed").severity(Severity::Warning).address(peer);
    // People sometimes type the password as the name, so an unknown one is not recorded.
    audit.record(match checked {
        Checked::UnknownName => entry.detail("reason", "unknown user name"),
        _ => entry.target(username).detail("reason", "wrong password"),
    });
}

fn record_throttled(audit: &Audit, peer: IpAddr) {
    let entry = AuditEntry::new("login.throttled").severity(Severity::Warning).address(peer);
    audit.record_repeated("login", &peer.to_string(), entry);
}

fn slow_down(wait: Duration) -> ApiError {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let message = format!("too many failed logins: try again in {seconds} s");
    ApiError::new(ErrorCode::TooManyAttempts, message).retry_after(seconds)
}

fn crowded() -> ApiError {
    let message = "too many logins from your network at once: try again in 1 s";
    ApiError::new(ErrorCode::TooManyAttempts, message).retry_after(1)
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use tokio::time::timeout;

    use super::*;

    /// Far shorter than a check.
    const IMPATIENCE: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn a_flood_of_logins_uses_the_memory_of_two_checks_even_if_clients_disconnect() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let login = Login::new();
        // No memory is freed before this one ends, so it can be counted.
        let other = login.checker.begin();
        let wrong = async |client: u8| {
            let turn = login.queue.turn([192, 0, 2, client].into()).await.ok()?;
            login.check(&store, "nobody", SecretString::from("wrong"), turn).await.ok()
        };
        for client in 0..12 {
            let _ = timeout(IMPATIENCE, wrong(client)).await;
        }
        let checked = join_all((0..12).map(wrong)).await;
        assert_eq!(checked, [Some(Checked::UnknownName); 12]);
        assert_eq!(login.checker.spare(), 2);
        drop(other);
        assert_eq!(login.checker.spare(), 0, "all memory is returned");
    }
}
