//! Generates, hashes and checks passwords. Slow on purpose, so never on an async thread.

use std::{fmt::Write, sync::Arc};

use argon2::{
    Algorithm, Argon2, Block, Params, Version,
    password_hash::{
        PasswordHasher,
        phc::{Output, PasswordHash},
    },
};
use parking_lot::Mutex;
use secrecy::{ExposeSecret, SecretString};

/// A hash that no password matches, as expensive to check as a real one. Unknown user names must
/// not get a faster answer.
pub const DECOY: &str = "$argon2id$v=19$m=19456,t=2,p=1$ZGVjb3lkZWNveWRlY295$\
                         AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Errors of password handling.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// The hash could not be computed.
    #[error("the password cannot be hashed")]
    Hash(#[source] argon2::password_hash::Error),
    /// The system has no random numbers.
    #[error("the system provides no random numbers")]
    Random(#[source] getrandom::Error),
    /// The hashing thread died.
    #[error("the password check was interrupted")]
    Interrupted(#[from] tokio::task::JoinError),
}

/// Hashes a password, off the async threads.
pub async fn hash(password: SecretString) -> Result<String, PasswordError> {
    tokio::task::spawn_blocking(move || {
        let hash = Argon2::default().hash_password(password.expose_secret().as_bytes());
        hash.map(|hash| hash.to_string()).map_err(PasswordError::Hash)
    })
    .await?
}

/// Checks passwords in reusable memory. Each check needs 19 MB, and the system's allocator would
/// keep as much for every thread that ran one.
#[derive(Clone, Default)]
pub struct Checker {
    /// As many buffers as there were simultaneous checks.
    spare: Arc<Mutex<Vec<Vec<Block>>>>,
}

impl Checker {
    /// Whether a password matches a hash, off the async threads. Nothing matches an invalid hash.
    pub async fn fits(&self, password: SecretString, hash: String) -> Result<bool, PasswordError> {
        let spare = self.spare.clone();
        let fits = tokio::task::spawn_blocking(move || {
            let mut memory = spare.lock().pop().unwrap_or_default();
            let fits = fits(password.expose_secret().as_bytes(), &hash, &mut memory);
            spare.lock().push(memory);
            fits.unwrap_or(false)
        });
        Ok(fits.await?)
    }
}

/// `None` if the hash is invalid.
fn fits(password: &[u8], hash: &str, memory: &mut Vec<Block>) -> Option<bool> {
    let hash = PasswordHash::new(hash).ok()?;
    let (salt, expected) = (hash.salt?, hash.hash?);
    let params = Params::try_from(&hash).ok()?;
    let algorithm = Algorithm::try_from(hash.algorithm.as_str()).ok()?;
    let version = Version::try_from(hash.version?).ok()?;
    memory.resize(params.block_count(), Block::default());
    let mut computed = [0; Output::MAX_LENGTH];
    let computed = computed.get_mut(..expected.as_bytes().len())?;
    Argon2::new(algorithm, version, params)
        .hash_password_into_with_memory(password, &salt, computed, memory)
        .ok()?;
    // Compared in constant time.
    Some(Output::new(computed).ok()? == expected)
}

/// A new password with 80 random bits, in four readable groups.
pub fn generate() -> Result<SecretString, PasswordError> {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(PasswordError::Random)?;
    let mut password = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        if at > 0 && at % 4 == 0 {
            password.push('-');
        }
        password.extend(ALPHABET.get(usize::from(byte & 31)).map(|c| char::from(*c)));
    }
    Ok(SecretString::from(password))
}

/// 128 random bits in hexadecimal.
pub fn random_hex() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_matches() {
        let hash = hash(SecretString::from("correct horse")).await.unwrap();
        let checker = Checker::default();
        let fits = async |password: &str, hash: &str| {
            checker.fits(SecretString::from(password), hash.to_owned()).await.unwrap()
        };
        assert!(fits("correct horse", &hash).await);
        assert!(!fits("wrong horse", &hash).await);
        assert!(fits("correct horse", &hash).await, "also in reused memory");
        assert!(!fits("", "nonsense").await);
        assert_eq!(checker.spare.lock().len(), 1, "sequential checks share their memory");
    }

    #[tokio::test]
    async fn the_decoy_costs_as_much_as_a_real_hash() {
        let cost = |hash: &str| hash.split('$').nth(3).unwrap().to_owned();
        let real = hash(SecretString::from("any")).await.unwrap();
        assert_eq!(cost(DECOY), cost(&real));
        assert!(PasswordHash::new(DECOY).is_ok());
        let checker = Checker::default();
        assert!(!checker.fits(SecretString::from("any"), DECOY.into()).await.unwrap());
    }

    #[test]
    fn a_generated_password_is_readable_and_never_the_same() {
        let (one, two) = (generate().unwrap(), generate().unwrap());
        assert_eq!(one.expose_secret().len(), 19);
        assert_eq!(one.expose_secret().matches('-').count(), 3);
        assert_ne!(one.expose_secret(), two.expose_secret());
    }
}
