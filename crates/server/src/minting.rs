//! Creating tokens for agents, and who may create which.

use std::time::Duration;

use helmdeck_sessions::Caller;
use helmdeck_wire::{
    ErrorCode,
    connect::TOKEN_LIFE_S,
    history::ActorKind,
    token::{CreatedToken, NewToken, TokenInfo},
};
use time::OffsetDateTime;

use crate::{
    App, audit,
    error::{ApiError, ApiResult},
    token::Grant,
};

/// Default scope: everything in the owner's sessions.
const DEFAULT_SCOPE: &str = "sessions:*";

/// Creates and stores a token for an agent. `made_for` is the id of the MCP client that will use it.
pub async fn mint(
    app: &App,
    caller: &Caller,
    wanted: NewToken,
    made_for: Option<&str>,
) -> ApiResult<CreatedToken> {
    let NewToken { label, scopes, ttl_s, subject } = wanted;
    let scopes = scopes.unwrap_or_else(|| vec![DEFAULT_SCOPE.to_owned()]);
    let subject = subject.unwrap_or_else(|| caller.subject.clone());
    may_mint(caller, &subject, &scopes)?;
    if label.contains(char::is_control) {
        let message = "label has control characters: use printable ones";
        return Err(ApiError::new(ErrorCode::InvalidInput, message).of_field("label", Vec::new()));
    }
    let grant = Grant {
        subject: &subject,
        label: Some(&label),
        human: false,
        scopes: &scopes,
        ttl: Duration::from_secs(ttl_s.unwrap_or(TOKEN_LIFE_S)),
    };
    let (token, claims) = app.signer.mint(&grant)?;
    let info = TokenInfo { made_for: made_for.map(str::to_owned), ..claims.info() };
    // A token that is not stored cannot be listed or revoked.
    app.store.add_token(&info, OffsetDateTime::now_utc()).await?;
    app.audit.record(audit::token_created(&info).actor(caller));
    let TokenInfo { id, scopes, created_at, expires_at, .. } = info;
    Ok(CreatedToken { token, id, label, subject, scopes, created_at, expires_at })
}

/// A person may create tokens for their own subject that their own token covers; an admin, any token.
/// An agent may create none, because they would outlive the revocation of the agent's token.
fn may_mint(caller: &Caller, subject: &str, scopes: &[String]) -> ApiResult<()> {
    if caller.is_admin() {
        return Ok(());
    }
    if caller.kind != ActorKind::Human {
        let message =
            "an agent's token cannot create tokens: log in, or ask the user to create one";
        return Err(ApiError::new(ErrorCode::PersonRequired, message));
    }
    if subject != caller.subject {
        let message = format!("only an admin can create tokens for {subject:?}: leave out subject");
        return Err(ApiError::new(ErrorCode::Forbidden, message).of_field("subject", Vec::new()));
    }
    match scopes.iter().find(|scope| !caller.covers(scope)) {
        None => Ok(()),
        Some(scope) => {
            let message = format!("your own token lacks the scope {scope}: request less");
            Err(ApiError::new(ErrorCode::Forbidden, message).of_field("scopes", Vec::new()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kind: ActorKind, own: &str, subject: &str, scope: &str) -> Result<(), ErrorCode> {
        let caller = Caller {
            subject: "ann".into(),
            scopes: vec![own.to_owned()],
            kind,
            ..Caller::default()
        };
        may_mint(&caller, subject, &[scope.to_owned()]).map_err(|error| error.code)
    }

    #[test]
    fn a_person_creates_tokens_that_their_own_token_covers() {
        let person = |own, subject, scope| asked(ActorKind::Human, own, subject, scope);
        assert_eq!(person("sessions:*", "ann", "sessions:act"), Ok(()));
        assert_eq!(person("sessions:*", "ann", "sessions:*"), Ok(()));
        assert_eq!(person("sessions:read", "ann", "sessions:*"), Err(ErrorCode::Forbidden));
        assert_eq!(person("sessions:*", "ann", "admin"), Err(ErrorCode::Forbidden));
        assert_eq!(person("sessions:*", "bob", "sessions:read"), Err(ErrorCode::Forbidden));
    }

    #[test]
    fn an_agent_creates_tokens_only_as_an_admin() {
        let agent = |own, subject, scope| asked(ActorKind::Agent, own, subject, scope);
        assert_eq!(agent("sessions:*", "ann", "sessions:read"), Err(ErrorCode::PersonRequired));
        assert_eq!(agent("admin", "bob", "sessions:read"), Ok(()));
    }
}
