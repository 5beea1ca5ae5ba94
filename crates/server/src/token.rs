//! Tokens: signing them, and telling good ones from bad.

mod hs256;

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind as IoErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use helmdeck_wire::token::TokenInfo;
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation, crypto, decode, encode,
    errors::ErrorKind,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use time::OffsetDateTime;

use crate::{Config, instance::make_data_dir, password::random_hex};

/// Who signs our tokens.
const ISSUER: &str = "helmdeck";
/// How far the clocks of two machines may be apart.
const LEEWAY_SECONDS: u64 = 5;
/// Shorter keys can be guessed.
const MIN_SECRET_BYTES: usize = 32;
/// Characters of a stamp, six bits each.
const STAMP_LENGTH: usize = 16;

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The secret cannot be read or made.
    #[error("the token secret {path} cannot be used")]
    Secret {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The secret's file holds too little.
    #[error("the token secret {path} is shorter than 32 bytes: delete it to have a new one made")]
    ShortSecret {
        /// The file.
        path: PathBuf,
    },
    /// The data directory cannot be made.
    #[error("the data directory {path} cannot be made")]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    Random(#[source] getrandom::Error),
    /// The token could not be signed.
    #[error("the token cannot be signed")]
    Sign(#[source] jsonwebtoken::errors::Error),
}

/// What stands in a token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    /// Who the caller is; sessions belong to it.
    pub sub: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The program the token was made for: its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Whether a person uses it. Tokens that do not say so are agents'.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub human: bool,
    /// What the caller may.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// When it was made, in seconds since 1970.
    pub iat: i64,
    /// From when it counts.
    pub nbf: i64,
    /// Until when it counts.
    pub exp: i64,
    /// Names this token among all others.
    #[serde(default)]
    pub jti: String,
    /// Always `helmdeck`.
    pub iss: String,
}

impl Claims {
    /// The token without itself, for those who look after tokens.
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
        }
    }
}

/// Why a token was refused; the text is for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It was good once.
    #[error("token expired: log in again, or make a new one with `helmdeck token`")]
    Expired,
    /// It will be good later.
    #[error("the token is not valid yet: check the clock of the machine that made it")]
    TooEarly,
    /// It was not made here, or was changed on the way.
    #[error("the token was not signed by this server: make one with `helmdeck token`")]
    Forged,
    /// It is no token at all.
    #[error("the bearer token is not a JWT of this server")]
    Malformed,
}

/// Whom a token is for, and what it allows.
#[derive(Debug, Clone, Copy)]
pub struct Grant<'a> {
    /// Who will use it; sessions belong to this name.
    pub subject: &'a str,
    /// A label for the action log, for example the program's name.
    pub label: Option<&'a str>,
    /// Whether a person uses it, not an agent.
    pub human: bool,
    /// What it allows.
    pub scopes: &'a [String],
    /// How long it is valid.
    pub ttl: Duration,
}

/// Makes and checks the tokens of this installation.
pub struct Signer {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

impl Signer {
    /// Uses the configured secret, else the one in the data directory, which is made if needed.
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

    /// A token that is valid from now on, and what stands in it.
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

    /// Proves that a name was made here. Not a credential: it keeps made-up names out of the store.
    pub(crate) fn stamp(&self, name: &str) -> Result<String, TokenError> {
        // A line break is in no JWT, so a stamp is never a part of a token's signature.
        let message = format!("stamp\n{name}");
        let signed = crypto::sign(message.as_bytes(), &self.encoding, Algorithm::HS256);
        Ok(signed.map_err(TokenError::Sign)?.chars().take(STAMP_LENGTH).collect())
    }

    /// Signs anything.
    pub(crate) fn sign(&self, claims: &impl Serialize) -> Result<String, TokenError> {
        encode(&Header::default(), claims, &self.encoding).map_err(TokenError::Sign)
    }

    /// What a good token says.
    pub(crate) fn verify(&self, token: &str) -> Result<Claims, Refused> {
        self.read(token, ISSUER)
    }

    /// What `issuer` signed, if it has not expired.
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

/// The secret in the data directory. Of several processes that start at once, one makes it.
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

/// Writes a file that nobody ever sees half written, unless it is there already.
fn put_once(path: &Path, content: &str) -> std::io::Result<()> {
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    let written = file.write_all(content.as_bytes()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&draft, path));
    // Also when the disk is full: a draft is of no use to anybody.
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
    fn a_token_carries_subject_scopes_and_an_id_of_its_own() {
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
    fn a_token_of_another_time_or_another_server_is_refused() {
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
    fn a_token_is_an_agents_unless_it_says_that_it_is_a_persons() {
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
    fn a_stamp_is_made_with_the_secret_and_fits_one_name() {
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
