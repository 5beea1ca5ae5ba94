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

/// Blocks of 1 KiB to reserve for a check, which uses 19 MB of them. What is not used takes no
/// memory. glibc returns what is freed only above 32 MiB; it keeps less for every thread.
const RESERVED: usize = 33 << 10;

/// Checks passwords in memory that simultaneous checks hand on. It is freed when none runs.
#[derive(Clone, Default)]
pub struct Checker {
    memory: Arc<Mutex<Memory>>,
}

#[derive(Default)]
struct Memory {
    checks: usize,
    /// Buffers of checks that have ended.
    spare: Vec<Vec<Block>>,
}

impl Checker {
    /// Whether a password matches a hash, off the async threads. Nothing matches an invalid hash.
    /// The check holds `turn` to its end, even if nobody waits for it any more.
    pub async fn fits(
        &self,
        password: SecretString,
        hash: String,
        turn: impl Send + 'static,
    ) -> Result<bool, PasswordError> {
        let check = self.begin();
        let fits = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let spare = check.0.lock().spare.pop();
            let mut memory = spare.unwrap_or_else(|| Vec::with_capacity(RESERVED));
            let fits = fits(password.expose_secret().as_bytes(), &hash, &mut memory);
            check.0.lock().spare.push(memory);
            fits.unwrap_or(false)
        });
        Ok(fits.await?)
    }

    /// Counts a check: no memory is freed before it ends.
    pub fn begin(&self) -> Check {
        self.memory.lock().checks += 1;
        Check(self.memory.clone())
    }

    /// Buffers that no check uses.
    #[cfg(test)]
    pub fn spare(&self) -> usize {
        self.memory.lock().spare.len()
    }
}

/// A check that has not ended.
pub struct Check(Arc<Mutex<Memory>>);

impl Drop for Check {
    fn drop(&mut self) {
        let mut memory = self.0.lock();
        memory.checks -= 1;
        if memory.checks == 0 {
            let unused = std::mem::take(&mut memory.spare);
            drop(memory);
            // This takes a moment.
            drop(unused);
        }
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
    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn only_the_right_password_matches() {
        let hash = hash(SecretString::from("correct horse")).await.unwrap();
        let checker = Checker::default();
        let other = checker.begin();
        let fits = async |password: &str, hash: &str| {
            checker.fits(SecretString::from(password), hash.to_owned(), ()).await.unwrap()
        };
        assert!(fits("correct horse", &hash).await);
        assert!(!fits("wrong horse", &hash).await);
        assert!(fits("correct horse", &hash).await, "also in reused memory");
        assert!(!fits("", "nonsense").await);
        assert_eq!(checker.spare(), 1, "sequential checks share their memory");
        drop(other);
        assert_eq!(checker.spare(), 0);
    }

    #[tokio::test]
    async fn after_120_wrong_logins_at_once_no_memory_is_kept() {
        let checker = Checker::default();
        let cheap = DECOY.replace("m=19456,t=2", "m=64,t=1");
        let mut checks = JoinSet::new();
        for _ in 0..120 {
            let (checker, hash) = (checker.clone(), cheap.clone());
            checks.spawn(async move { checker.fits(SecretString::from("wrong"), hash, ()).await });
        }
        while let Some(fits) = checks.join_next().await {
            assert!(!fits.unwrap().unwrap());
        }
        let memory = checker.memory.lock();
        assert_eq!((memory.checks, memory.spare.len()), (0, 0));
    }

    #[tokio::test]
    async fn the_decoy_costs_as_much_as_a_real_hash() {
        let cost = |hash: &str| hash.split('$').nth(3).unwrap().to_owned();
        let real = hash(SecretString::from("any")).await.unwrap();
        assert_eq!(cost(DECOY), cost(&real));
        assert!(PasswordHash::new(DECOY).is_ok());
        let checker = Checker::default();
        assert!(!checker.fits(SecretString::from("any"), DECOY.into(), ()).await.unwrap());
    }

    #[test]
    fn a_generated_password_is_readable_and_never_the_same() {
        let (one, two) = (generate().unwrap(), generate().unwrap());
        assert_eq!(one.expose_secret().len(), 19);
        assert_eq!(one.expose_secret().matches('-').count(), 3);
        assert_ne!(one.expose_secret(), two.expose_secret());
    }
}
