//! The credential for a git server.

use std::{path::Path, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_egress::Target;
use helmdeck_store::vault::{Destination, Secret};
use helmdeck_wire::{ErrorCode, vault::CredentialType};
use http::HeaderValue;
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    Context, PackError, PackResult, github::CredentialName, json::at, ssh_address::SshAddress,
};

/// User name for tokens: GitHub needs this one, other servers accept any.
const TOKEN_USER: &str = "x-access-token";
/// How long the disk may take to read a file of host keys.
const READ: Duration = Duration::from_secs(10);

/// A credential as git servers take it.
pub struct GitCredential {
    /// Its name.
    pub name: String,
    /// What it is used as.
    pub access: Access,
}

/// What a credential is used as.
pub enum Access {
    /// The `Authorization` header.
    Header(HeaderValue),
    /// A private key.
    Key(Box<SshKey>),
}

/// A private key, and where it is used.
pub struct SshKey {
    /// Name of the credential.
    pub name: String,
    /// The repository.
    pub address: SshAddress,
    /// The key, as OpenSSH writes it.
    pub private_key: Vec<u8>,
    /// Keys of hosts that are trusted, as OpenSSH writes them.
    pub known_hosts: String,
}

/// The credential for a repository: the named one, or else one that is for its host. `None` if the
/// caller has none.
pub async fn find(
    context: &Context,
    url: &str,
    named: Option<&CredentialName>,
) -> PackResult<Option<GitCredential>> {
    if let Some(address) = SshAddress::parse(url)? {
        return by_ssh(context, address, named).await.map(Some);
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        // Git refuses it.
        return Ok(None);
    }
    let target = Target::from_url(url).map_err(|it| PackError::invalid("url", it.to_string()))?;
    let (host, path) = (target.host.to_string(), crate::http_client::path(url));
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

/// The key for a repository by SSH. There is always one: sessions have no keys.
async fn by_ssh(
    context: &Context,
    address: SshAddress,
    named: Option<&CredentialName>,
) -> PackResult<GitCredential> {
    let host = address.target.host.to_string();
    let path = format!("/{}", address.path.trim_start_matches('/'));
    let to = Destination { host: &host, port: Some(address.target.port), path: &path };
    let secret = match named {
        Some(CredentialName(name)) => context.secrets.named(name, to).await?,
        None => context.secrets.for_host(CredentialType::Ssh, to).await.map_err(|error| {
            let hint = "store a private key in the vault, as a credential of type ssh for this host; or \
                        use the https:// address of the repository";
            error.hint(hint)
        })?,
    };
    let name = secret.name().to_owned();
    if secret.kind() != CredentialType::Ssh {
        let message =
            format!("vault: {name} cannot be used for git by SSH: expected an ssh credential");
        return Err(PackError::new(ErrorCode::CredentialInvalid, message));
    }
    let mut private_key = secret.reveal().trim_ascii().to_vec();
    private_key.push(b'\n');
    let mut known_hosts = match &context.known_hosts {
        Some(file) => read_known_hosts(file).await?,
        None => String::new(),
    };
    let lines = match secret.note("known_hosts") {
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(lines)) => vec![lines.as_str()],
        _ => Vec::new(),
    };
    for line in lines {
        known_hosts.push_str(line);
        known_hosts.push('\n');
    }
    let key = SshKey { name: name.clone(), address, private_key, known_hosts };
    Ok(GitCredential { name, access: Access::Key(Box::new(key)) })
}

/// The operator's file of host keys.
async fn read_known_hosts(file: &Path) -> PackResult<String> {
    let unreadable = |error: &dyn std::fmt::Display| {
        let message = format!("the file of HELMDECK_SSH_KNOWN_HOSTS cannot be read: {error}");
        PackError::new(ErrorCode::NotReady, message).permanent()
    };
    let read = timeout(READ, tokio::fs::read(file)).await.map_err(|late| unreadable(&late))?;
    let mut text = String::from_utf8_lossy(&read.map_err(|error| unreadable(&error))?).into_owned();
    text.push('\n');
    Ok(text)
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
    Ok(GitCredential { name: secret.name().to_owned(), access: Access::Header(header) })
}
