//! Links to artifacts: signed, bound to one key, and valid for a while. Pure.

use helmdeck_wire::artifact::ArtifactKey;
use ring::hmac::{self, HMAC_SHA256};
use time::OffsetDateTime;

use crate::StoreError;

/// The query of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkQuery {
    /// When it expires, in seconds since 1970.
    pub expires: i64,
    /// Signature of the key and the expiry, in hexadecimal digits.
    pub signature: String,
}

/// Signs and checks links.
pub(super) struct LinkKey(hmac::Key);

impl LinkKey {
    pub fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(HMAC_SHA256, secret))
    }

    /// Path and query of a link.
    pub fn path(&self, key: &ArtifactKey, expires_at: OffsetDateTime) -> String {
        let expires = expires_at.unix_timestamp();
        let signed = hmac::sign(&self.0, message(key, expires).as_bytes());
        let signature: String = signed.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}?expires={expires}&signature={signature}", key.download_path())
    }

    /// Accepts a link for this key that has not expired.
    pub fn check(
        &self,
        key: &ArtifactKey,
        link: &LinkQuery,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let message = message(key, link.expires);
        let signature = bytes(&link.signature);
        // Takes the same time for every wrong signature.
        hmac::verify(&self.0, message.as_bytes(), &signature)
            .map_err(|_| StoreError::InvalidLink("was altered, or is for another artifact"))?;
        match link.expires > now.unix_timestamp() {
            true => Ok(()),
            false => Err(StoreError::InvalidLink("has expired")),
        }
    }
}

fn message(key: &ArtifactKey, expires: i64) -> String {
    format!("{expires}\n{key}")
}

/// The bytes of hexadecimal digits; none if they are something else.
fn bytes(digits: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(byte).collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    fn query(path: &str) -> LinkQuery {
        let value = |name: &str| {
            let (_, query) = path.split_once('?').unwrap();
            let pair = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
            pair.unwrap().to_owned()
        };
        let expires = value("expires").parse().unwrap();
        LinkQuery { expires, signature: value("signature") }
    }

    #[test]
    fn a_link_opens_one_artifact_until_it_expires() {
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(1000);
        let links = LinkKey::new(b"secret");
        let artifact = |digit| ArtifactKey::new("p", [digit; 8], "a.txt").unwrap();
        let link = query(&links.path(&artifact(1), now + Duration::MINUTE));
        let allowed = |key, link: &LinkQuery, at| links.check(&key, link, at).is_ok();
        assert!(allowed(artifact(1), &link, now));
        assert!(allowed(artifact(1), &link, now + Duration::seconds(59)));
        assert!(!allowed(artifact(1), &link, now + Duration::MINUTE), "expired");
        assert!(!allowed(artifact(2), &link, now), "another artifact");
        let later = LinkQuery { expires: link.expires + 1, ..link.clone() };
        assert!(!allowed(artifact(1), &later, now));
        for signature in ["", "00", "zz", "é", &link.signature[2..], &"0".repeat(64)] {
            let forged = LinkQuery { signature: signature.to_owned(), ..link.clone() };
            assert!(!allowed(artifact(1), &forged, now), "{signature}");
        }
        assert!(LinkKey::new(b"other").check(&artifact(1), &link, now).is_err());
    }
}
