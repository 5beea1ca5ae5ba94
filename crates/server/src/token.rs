//! Signing and verifying tokens.

mod hs256;

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind as IoErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use helmdeck_sessions::Caller;
use helmdeck_wire::{history::ActorKind, token::TokenInfo};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation, crypto, decode, encode,
    errors::ErrorKind,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use time::OffsetDateTime;

use crate::{Config, instance::make_data_dir, password::random_hex};

/// Issuer of our tokens.
const ISSUER: &str = "helmdeck";
/// Allowed clock difference between machines.
const LEEWAY_SECONDS: u64 = 5;
/// How long the claims of one call are valid.
const ONE_CALL_SECONDS: i64 = 600;
/// Minimum length of the secret. Shorter keys can be guessed.
const MIN_SECRET_BYTES: usize = 32;
/// Number of characters in a stamp, six bits each.
const STAMP_LENGTH: usize = 16;

/// Errors of tokens.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The secret cannot be read or created.
    #[error("the token secret {path} cannot be used")]
    Secret {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The secret is too short.
    #[error("the token secret {path} is shorter than 32 bytes: delete it to generate a new one")]
    ShortSecret {
        /// The file.
        path: PathBuf,
    },
    /// The data directory cannot be created.
    #[error("the data directory {path} cannot be created")]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The system has no random numbers.
    #[error("the system provides no random numbers")]
    Random(#[source] getrandom::Error),
    /// The token could not be signed.
    #[error("the token cannot be signed")]
    Sign(#[source] jsonwebtoken::errors::Error),
}

/// Content of a token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    /// The caller. Sessions belong to it.
    pub sub: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Label: the program that the token was created for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Whether a person uses it. By default it belongs to an agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub human: bool,
    /// Scopes of the caller.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// When it was created, in seconds since 1970.
    pub iat: i64,
    /// Start of its validity.
    pub nbf: i64,
    /// End of its validity.
    pub exp: i64,
    /// Id of the token.
    #[serde(default)]
    pub jti: String,
    /// Always `helmdeck`.
    pub iss: String,
}

impl Claims {
    /// Claims of a caller whose token was checked before, for one call.
    pub fn for_one_call(caller: &Caller) -> Self {
        let now = OffsetDateTime::now_utc().unix_timestamp();
        Self {
            sub: caller.subject.clone(),
            name: None,
            client: caller.label.clone(),
            human: caller.kind == ActorKind::Human,
            scopes: caller.scopes.clone(),
            iat: now,
            nbf: now,
            exp: now + ONE_CALL_SECONDS,
            jti: caller.token.clone(),
            iss: ISSUER.to_owned(),
        }
    }

    /// The token without its secret, for listing.
    pub fn info(&self) -> TokenInfo {
        let at = |seconds| {
            OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
        };
        TokenInfo {
            id: self.jti.clone(),
            subject: self.sub.clone(),
            client: self.client.clone(),
            human: self.human,
            scopes: self.scopes.clone(),
            created_at: at(self.iat),
            expires_at: at(self.exp),
            revoked_at: None,
            made_for: None,
            last_used_at: None,
            mcp_client: None,
        }
    }
}

/// Why a token was refused. The message is for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has expired.
    #[error("the token has expired: log in again, or create a new one with `helmdeck token`")]
    Expired,
    /// It is not valid yet.
    #[error("the token is not valid yet: check the clock of the machine that created it")]
    TooEarly,
    /// Another server created it, or it was modified.
    #[error("the token was not signed by this server: create one with `helmdeck token`")]
    Forged,
    /// It is not a token.
    #[error("the bearer token is not a JWT from this server")]
    Malformed,
}

/// Who a token is for, and what it allows.
#[derive(Debug, Clone, Copy)]
pub struct Grant<'a> {
    /// The subject. Sessions belong to it.
    pub subject: &'a str,
    /// Label for the action log, for example the program's name.
    pub label: Option<&'a str>,
    /// Whether a person uses it, not an agent.
    pub human: bool,
    /// Scopes.
    pub scopes: &'a [String],
    /// How long it is valid.
    pub ttl: Duration,
}

/// Creates and verifies the tokens of this installation.
pub struct Signer {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

impl Signer {
    /// Uses the configured secret, else the one in the data directory, which is created if needed.
    pub fn load(config: &Config) -> Result<Self, TokenError> {
        hs256::install();
        let secret = match &config.jwt_secret {
            Some(secret) => secret.clone(),
            None => kept_secret(&config.data_dir)?,
        };
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_required_spec_claims(&["exp", "sub", "iss"]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY_SECONDS;
        let bytes = secret.expose_secret().as_bytes();
        Ok(Self {
            encoding: EncodingKey::from_secret(bytes),
            decoding: DecodingKey::from_secret(bytes),
            validation,
        })
    }

    /// Creates a token that is valid from now on. Returns it with its claims.
    pub fn mint(&self, grant: &Grant<'_>) -> Result<(String, Claims), TokenError> {
        self.mint_at(grant, OffsetDateTime::now_utc())
    }

    fn mint_at(
        &self,
        grant: &Grant<'_>,
        now: OffsetDateTime,
    ) -> Result<(String, Claims), TokenError> {
        let Grant { subject, label, human, scopes, ttl } = *grant;
        let claims = Claims {
            sub: subject.to_owned(),
            name: None,
            client: label.map(str::to_owned),
            human,
            scopes: scopes.to_vec(),
            iat: now.unix_timestamp(),
            nbf: now.unix_timestamp(),
            exp: now.saturating_add(ttl.try_into().unwrap_or(time::Duration::MAX)).unix_timestamp(),
            jti: random_hex().map_err(TokenError::Random)?,
            iss: ISSUER.to_owned(),
        };
        Ok((self.sign(&claims)?, claims))
    }

    /// Proves that this server created an id. Not a credential: it keeps made-up ids out of the
    /// store.
    pub(crate) fn stamp(&self, name: &str) -> Result<String, TokenError> {
        // JWTs contain no line breaks, so a stamp is never part of a token's signature.
        let message = format!("stamp\n{name}");
        let signed = crypto::sign(message.as_bytes(), &self.encoding, Algorithm::HS256);
        Ok(signed.map_err(TokenError::Sign)?.chars().take(STAMP_LENGTH).collect())
    }

    /// A key for another purpose than tokens, derived from the secret.
    pub(crate) fn derive(&self, purpose: &str) -> Result<Vec<u8>, TokenError> {
        // Like a stamp, it is never part of a token's signature.
        let message = format!("derive\n{purpose}");
        let key = crypto::sign(message.as_bytes(), &self.encoding, Algorithm::HS256);
        Ok(key.map_err(TokenError::Sign)?.into_bytes())
    }

    /// Signs any claims.
    pub(crate) fn sign(&self, claims: &impl Serialize) -> Result<String, TokenError> {
        encode(&Header::default(), claims, &self.encoding).map_err(TokenError::Sign)
    }

    /// Verifies a token.
    pub(crate) fn verify(&self, token: &str) -> Result<Claims, Refused> {
        self.read(token, ISSUER)
    }

    /// Verifies claims that `issuer` signed.
    pub(crate) fn read<C: DeserializeOwned>(&self, text: &str, issuer: &str) -> Result<C, Refused> {
        let mut validation = self.validation.clone();
        validation.set_issuer(&[issuer]);
        let checked = decode::<C>(text, &self.decoding, &validation);
        checked.map(|token| token.claims).map_err(|error| match error.kind() {
            ErrorKind::ExpiredSignature => Refused::Expired,
            ErrorKind::ImmatureSignature => Refused::TooEarly,
            ErrorKind::InvalidSignature | ErrorKind::InvalidIssuer => Refused::Forged,
            _ => Refused::Malformed,
        })
    }
}

/// The secret in the data directory. If several processes start at once, one of them creates it.
fn kept_secret(data_dir: &Path) -> Result<SecretString, TokenError> {
    make_data_dir(data_dir)
        .map_err(|source| TokenError::DataDir { path: data_dir.to_owned(), source })?;
    let path = data_dir.join("jwt.secret");
    let failed = |source| TokenError::Secret { path: path.clone(), source };
    let secret = match fs::read_to_string(&path) {
        Ok(secret) => secret,
        Err(error) if error.kind() == IoErrorKind::NotFound => {
            let new = random_hex().map_err(TokenError::Random)?
                + &random_hex().map_err(TokenError::Random)?;
            put_once(&path, &new).map_err(failed)?;
            fs::read_to_string(&path).map_err(failed)?
        }
        Err(error) => return Err(failed(error)),
    };
    let secret = secret.trim();
    if secret.len() < MIN_SECRET_BYTES {
        return Err(TokenError::ShortSecret { path });
    }
    Ok(SecretString::from(secret))
}

/// Writes a file atomically, unless it already exists.
fn put_once(path: &Path, content: &str) -> std::io::Result<()> {
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    let written = file.write_all(content.as_bytes()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&draft, path));
    // Removed even if the disk is full.
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != IoErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const AGENT: Grant<'_> =
        Grant { subject: "agent", label: None, human: false, scopes: &[], ttl: HOUR };

    fn signer(secret: &str) -> Signer {
        let env = [("HELMDECK_JWT_SECRET", secret), ("HELMDECK_DATA_DIR", "/nonexistent")];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Signer::load(&Config::load(None, env).unwrap()).unwrap()
    }

    #[test]
    fn a_token_carries_subject_scopes_and_a_unique_id() {
        let signer = signer(&"k".repeat(32));
        let scopes = ["sessions:read".to_owned()];
        let grant = Grant { scopes: &scopes, ..AGENT };
        let mint = || signer.verify(&signer.mint(&grant).unwrap().0).unwrap();
        let (one, two) = (mint(), mint());
        assert_eq!((one.sub.as_str(), one.scopes.as_slice()), ("agent", scopes.as_slice()));
        assert_eq!(one.exp - one.iat, 3600);
        assert!(one.jti.len() == 32 && one.jti != two.jti);
    }

    #[test]
    fn expired_future_and_foreign_tokens_are_refused() {
        let (ours, theirs) = (signer(&"k".repeat(32)), signer(&"x".repeat(32)));
        let now = OffsetDateTime::now_utc();
        let minted_at = |at| ours.mint_at(&AGENT, at).unwrap().0;

        assert_eq!(ours.verify(&minted_at(now - 2 * HOUR)).unwrap_err(), Refused::Expired);
        assert_eq!(ours.verify(&minted_at(now + HOUR)).unwrap_err(), Refused::TooEarly);
        assert_eq!(theirs.verify(&minted_at(now)).unwrap_err(), Refused::Forged);
        assert_eq!(ours.verify("abc.def.ghi").unwrap_err(), Refused::Malformed);
        // {"alg":"none"} and no signature.
        let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.";
        assert_eq!(ours.verify(unsigned).unwrap_err(), Refused::Malformed);
    }

    #[test]
    fn a_token_belongs_to_an_agent_unless_it_is_marked_human() {
        let signer = signer(&"k".repeat(32));
        let read = |claims: &serde_json::Value| signer.verify(&signer.sign(claims).unwrap());
        let exp = OffsetDateTime::now_utc().unix_timestamp() + 60;
        let old = serde_json::json!({ "sub": "a", "iat": 0, "nbf": 0, "exp": exp, "iss": ISSUER });
        assert!(!read(&old).unwrap().human);
        let person = signer.mint(&Grant { human: true, ..AGENT }).unwrap().0;
        assert!(signer.verify(&person).unwrap().human);
    }

    #[test]
    fn tokens_and_stamps_are_signed_as_every_hs256_implementation_signs_them() {
        // Made by `openssl dgst -sha256 -hmac`.
        let token = "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZ2VudCIsInNjb3BlcyI6WyJzZXNza\
                     W9uczpyZWFkIl0sImlhdCI6MCwibmJmIjowLCJleHAiOjQxMDI0NDQ4MDAsImp0aSI6ImI2ZDcxZTJ\
                     lYTg0MDYyNTkiLCJpc3MiOiJoZWxtZGVjayJ9.Tgdy2TZ6RkulOuhY-5ry8jxmRvTKAP8uIW_UB4bE\
                     NYw";
        let signer = signer(&"k".repeat(32));
        let claims = signer.verify(token).unwrap();
        assert_eq!((claims.sub.as_str(), claims.jti.as_str()), ("agent", "b6d71e2ea8406259"));
        assert_eq!(signer.sign(&claims).unwrap(), token);
        assert_eq!(signer.stamp("name").unwrap(), "_XDuzJnJrcxUt_lB");
    }

    #[test]
    fn a_stamp_depends_on_the_secret_and_the_name() {
        let (ours, theirs) = (signer(&"k".repeat(32)), signer(&"x".repeat(32)));
        assert_eq!(ours.stamp("a").unwrap(), ours.stamp("a").unwrap());
        assert_ne!(ours.stamp("a").unwrap(), ours.stamp("b").unwrap());
        assert_ne!(ours.stamp("a").unwrap(), theirs.stamp("a").unwrap());
        assert_eq!(ours.stamp("a").unwrap().len(), STAMP_LENGTH);
    }

    #[test]
    fn the_secret_is_made_once_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let first = kept_secret(dir.path()).unwrap();
        let again = kept_secret(dir.path()).unwrap();
        assert_eq!(first.expose_secret(), again.expose_secret());
        let mode = fs::metadata(dir.path().join("jwt.secret")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
