//! The credential for a git server.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_egress::Target;
use helmdeck_store::vault::{Destination, Secret};
use helmdeck_wire::{ErrorCode, vault::CredentialType};
use http::HeaderValue;
use serde_json::Value;

use crate::{Context, PackError, PackResult, github::CredentialName, json::at};

/// User name for tokens: GitHub needs this one, other servers accept any.
const TOKEN_USER: &str = "x-access-token";

/// A credential as git servers take it.
pub struct GitCredential {
    /// Its name.
    pub name: String,
    /// The `Authorization` header.
    pub header: HeaderValue,
}

/// The credential for a repository: the named one, or else one that is for its host. `None` if the
/// caller has none.
pub async fn find(
    context: &Context,
    url: &str,
    named: Option<&CredentialName>,
) -> PackResult<Option<GitCredential>> {
    if !is_http(url) {
        return by_ssh(context, url, named).await;
    }
    let target = Target::from_url(url).map_err(|it| PackError::invalid("url", it.to_string()))?;
    let (host, path) = (target.host.to_string(), crate::http::path(url));
    let to = Destination { host: &host, port: Some(target.port), path: &path };
    if let Some(CredentialName(name)) = named {
        let secret = context.secrets.named(name, to).await?;
        return header(&secret).map(Some);
    }
    for kind in [CredentialType::Login, CredentialType::ApiKey, CredentialType::Oauth] {
        match context.secrets.for_host(kind, to).await {
            Ok(secret) => return header(&secret).map(Some),
            Err(error) if error.code() == ErrorCode::CredentialInvalid => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether a repository is reached by HTTP.
pub fn is_http(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}

/// Keys are not given to a session, and nothing else could use them.
async fn by_ssh(
    context: &Context,
    url: &str,
    named: Option<&CredentialName>,
) -> PackResult<Option<GitCredential>> {
    let host = match url.split_once("://") {
        Some((_, rest)) => rest.split('/').next().unwrap_or_default(),
        None => url.split(':').next().unwrap_or_default(),
    };
    let host = host.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let to = Destination::from(host);
    let known = context.secrets.for_host(CredentialType::Ssh, to).await;
    if named.is_none() && known.is_err() {
        return Ok(None);
    }
    let message = "SSH keys of the vault cannot be used for git: use the https:// address of the \
                   repository, with a token or a login for its host";
    Err(PackError::invalid("url", message))
}

/// The header of HTTP's basic authentication.
fn header(secret: &Secret) -> PackResult<GitCredential> {
    let unusable = |expected: &str| {
        let message =
            format!("vault: {} cannot be used for git: expected {expected}", secret.name());
        PackError::new(ErrorCode::CredentialInvalid, message)
    };
    let text = secret.text()?.trim();
    let field = |name: &str| {
        let value = serde_json::from_str::<Value>(text).ok()?;
        at(&value, name).as_str().map(str::to_owned)
    };
    let (user, password) = match secret.kind() {
        CredentialType::ApiKey => (TOKEN_USER.to_owned(), text.to_owned()),
        CredentialType::Login => field("username")
            .zip(field("password"))
            .ok_or_else(|| unusable("a username and a password"))?,
        CredentialType::Oauth => {
            let token = field("access_token").ok_or_else(|| unusable("an access_token"))?;
            (TOKEN_USER.to_owned(), token)
        }
        _ => return Err(unusable("an api_key, login or oauth credential")),
    };
    let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
    let value = HeaderValue::try_from(format!("Basic {encoded}"));
    let mut header = value.map_err(|_| unusable("a token in one line"))?;
    header.set_sensitive(true);
    Ok(GitCredential { name: secret.name().to_owned(), header })
}
