//! Connecting MCP clients: instructions, tokens, and which clients have connected.

use std::cmp::Reverse;

use helmdeck_sessions::Caller;
use helmdeck_wire::{
    ErrorCode,
    connect::{
        CLIENTS, ConnectClient, ConnectGuide, ConnectRequest, Connected, KnownClient, MODELS_SCOPE,
        SCOPES, Setup, TOKEN_PLACEHOLDER,
    },
    token::{NewToken, TokenInfo},
};

use crate::{
    App,
    error::{ApiError, ApiResult},
    minting,
    public::Address,
};

/// The program that clients start, on their PATH.
const PROGRAM: &str = "helmdeck";

/// The client with this id.
pub fn client(id: &str) -> ApiResult<&'static KnownClient> {
    KnownClient::named(id).ok_or_else(|| {
        let known: Vec<_> = CLIENTS.iter().map(|client| client.id.to_owned()).collect();
        let message = format!("{id:?} is not a client: use {}", known.join(", "));
        ApiError::new(ErrorCode::NotFound, message).of_field("client", known)
    })
}

/// Every client, with its connections by the caller's tokens.
pub async fn list(app: &App, caller: &Caller) -> ApiResult<Vec<ConnectClient>> {
    let tokens = tokens(app, caller).await?;
    let describe = |client: &KnownClient| ConnectClient {
        id: client.id.to_owned(),
        title: client.title.to_owned(),
        profile: client.profile,
        connected: connected(client, &tokens),
    };
    Ok(CLIENTS.iter().map(describe).collect())
}

/// Instructions with a placeholder for the token.
pub async fn show(
    app: &App,
    caller: &Caller,
    address: &Address,
    client: &KnownClient,
) -> ApiResult<ConnectGuide> {
    let server = address.url("");
    let setup = Setup {
        server: &server,
        ca_file: None,
        profile: client.profile,
        transport: client.transport,
        token: TOKEN_PLACEHOLDER,
        program: PROGRAM,
    };
    let tokens = tokens(app, caller).await?;
    Ok(guide(client, &setup, connected(client, &tokens)))
}

/// Creates a token for a client and returns instructions with it.
pub async fn create(
    app: &App,
    caller: &Caller,
    address: &Address,
    client: &KnownClient,
    request: ConnectRequest,
) -> ApiResult<ConnectGuide> {
    let mut scopes = SCOPES.to_vec();
    scopes.extend(request.models.then_some(MODELS_SCOPE));
    let scopes: Vec<_> = scopes.into_iter().map(str::to_owned).collect();
    let wanted = NewToken {
        label: request.label.unwrap_or_else(|| client.title.to_owned()),
        scopes: Some(scopes),
        ttl_s: request.ttl_s,
        subject: None,
    };
    let made = minting::mint(app, caller, wanted, Some(client.id)).await?;
    let server = address.url("");
    let setup = Setup {
        server: &server,
        ca_file: None,
        profile: request.profile.unwrap_or(client.profile),
        transport: request.transport.unwrap_or(client.transport),
        token: &made.token,
        program: PROGRAM,
    };
    let tokens = tokens(app, caller).await?;
    let guide = guide(client, &setup, connected(client, &tokens));
    Ok(ConnectGuide {
        token: Some(made.token),
        token_id: Some(made.id),
        label: Some(made.label),
        scopes: made.scopes,
        expires_at: Some(made.expires_at),
        ..guide
    })
}

/// The tokens that the caller may see, with their latest use.
pub async fn tokens(app: &App, caller: &Caller) -> ApiResult<Vec<TokenInfo>> {
    let mut tokens = app.store.tokens(caller.limited_to()).await?;
    for token in &mut tokens {
        token.last_used_at = app.token_use.last(&token.id).or(token.last_used_at);
        token.mcp_client = app.mcp_clients.of_token(&token.id).or(token.mcp_client.take());
    }
    Ok(tokens)
}

fn guide(client: &KnownClient, setup: &Setup<'_>, connected: Vec<Connected>) -> ConnectGuide {
    let how = client.guide(setup);
    ConnectGuide {
        client: client.id.to_owned(),
        title: client.title.to_owned(),
        profile: setup.profile,
        transport: setup.transport,
        url: setup.url(),
        steps: how.steps,
        undo: how.undo,
        docs: client.docs.to_owned(),
        token: None,
        token_id: None,
        label: None,
        scopes: SCOPES.map(str::to_owned).into(),
        expires_at: None,
        connected,
    }
}

/// The tokens that a client has connected with: those created for it, and those created for no client
/// whose user introduces itself as this one.
fn connected(client: &KnownClient, tokens: &[TokenInfo]) -> Vec<Connected> {
    let valid = tokens.iter().filter(|token| token.revoked_at.is_none());
    let mut found: Vec<_> = valid
        .filter_map(|token| {
            let seen = token.mcp_client.as_ref()?;
            let id = match &token.made_for {
                Some(made_for) => made_for.as_str(),
                None => KnownClient::introduced_as(&seen.name)?.id,
            };
            (id == client.id).then(|| Connected {
                token_id: token.id.clone(),
                label: token.client.clone(),
                name: seen.name.clone(),
                version: seen.version.clone(),
                last_seen: seen.last_seen,
            })
        })
        .collect();
    found.sort_by_key(|connected| Reverse(connected.last_seen));
    found
}
