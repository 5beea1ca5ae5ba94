//! HS256 signatures by `ring`, for `jsonwebtoken`.
//!
//! The providers that `jsonwebtoken` brings sign by every algorithm of the standard, and take long to
//! build for it. Tokens of this server have one.

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{ErrorKind, Result},
};
use ring::hmac::{self, HMAC_SHA256};
use signature::{Error, Signer, Verifier};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key: &EncodingKey| {
        check(*algorithm, key.family())?;
        Ok(Box::new(Hs256::new(key.as_bytes())))
    },
    verifier_factory: |algorithm, key: &DecodingKey| {
        check(*algorithm, key.family())?;
        Ok(Box::new(Hs256::new(key.try_get_as_bytes()?)))
    },
    // For public keys, of which there are none.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes `jsonwebtoken` use this. Further calls change nothing.
pub fn install() {
    let _ = PROVIDER.install_default();
}

fn check(algorithm: Algorithm, family: AlgorithmFamily) -> Result<()> {
    match (algorithm, family) {
        (Algorithm::HS256, AlgorithmFamily::Hmac) => Ok(()),
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

struct Hs256(hmac::Key);

impl Hs256 {
    fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(HMAC_SHA256, secret))
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    /// Takes the same time for every wrong signature.
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        hmac::verify(&self.0, message, signature).map_err(|_| Error::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}
