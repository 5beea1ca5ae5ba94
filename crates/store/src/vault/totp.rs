//! One-time codes: RFC 6238, with keys as authenticators take them.

use ring::hmac::{self, Algorithm, HMAC_SHA1_FOR_LEGACY_USE_ONLY, HMAC_SHA256, HMAC_SHA512};
use time::OffsetDateTime;

/// How codes are made from a key.
pub(super) struct Totp {
    key: Vec<u8>,
    algorithm: Algorithm,
    digits: u32,
    period_s: u64,
}

impl Totp {
    /// Parses a key in base32, or an `otpauth://totp/` address.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let Some(rest) = text.strip_prefix("otpauth://totp/") else {
            return Self::of(text, HMAC_SHA1_FOR_LEGACY_USE_ONLY, 6, 30);
        };
        let query = rest.split_once('?')?.1;
        let field = |name: &str| {
            query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
        };
        let algorithm = match field("algorithm").map(|(_, it)| it.to_ascii_uppercase()).as_deref() {
            None | Some("SHA1") => HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Some("SHA256") => HMAC_SHA256,
            Some("SHA512") => HMAC_SHA512,
            Some(_) => return None,
        };
        let digits = field("digits").map_or(Some(6), |(_, it)| it.parse().ok())?;
        let period_s = field("period").map_or(Some(30), |(_, it)| it.parse().ok())?;
        Self::of(field("secret")?.1, algorithm, digits, period_s)
    }

    fn of(key: &str, algorithm: Algorithm, digits: u32, period_s: u64) -> Option<Self> {
        let key = base32(key).filter(|key| !key.is_empty())?;
        let allowed = (6..=8).contains(&digits) && (1..=3600).contains(&period_s);
        allowed.then_some(Self { key, algorithm, digits, period_s })
    }

    /// The code at a time.
    pub fn code(&self, at: OffsetDateTime) -> String {
        let seconds = u64::try_from(at.unix_timestamp()).unwrap_or_default();
        let counter = seconds / self.period_s;
        let key = hmac::Key::new(self.algorithm, &self.key);
        let digest = hmac::sign(&key, &counter.to_be_bytes());
        let digest = digest.as_ref();
        let start = usize::from(digest.last().copied().unwrap_or_default() & 0xf);
        let word = digest.get(start..start + 4).and_then(|word| word.try_into().ok());
        let number = word.map_or(0, u32::from_be_bytes) & 0x7fff_ffff;
        let (digits, number) = (self.digits as usize, number % 10_u32.pow(self.digits));
        format!("{number:0digits$}")
    }
}

/// Decodes base32, with or without padding, spaces and dashes.
fn base32(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut length) = (0_u32, 0);
    for c in text.trim_end_matches('=').chars().filter(|c| !matches!(c, ' ' | '-')) {
        let value = match c.to_ascii_uppercase() {
            c @ 'A'..='Z' => c as u32 - 'A' as u32,
            c @ '2'..='7' => c as u32 - '2' as u32 + 26,
            _ => return None,
        };
        bits = (bits << 5) | value;
        length += 5;
        if length >= 8 {
            length -= 8;
            bytes.push((bits >> length) as u8);
            bits &= (1 << length) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ASCII digits 1234567890 in base32. The keys of RFC 6238, appendix B, repeat them up to the
    /// length of the hash.
    const TEN: &str = "GEZDGNBVGY3TQOJQ";

    fn code(address: &str, seconds: i64) -> String {
        let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap();
        Totp::parse(address).unwrap().code(at)
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        let address = |key: &str, algorithm| {
            format!("otpauth://totp/a:b?secret={key}&digits=8&period=30&algorithm={algorithm}")
        };
        let key1 = TEN.repeat(2);
        let key256 = format!("{}GEZA====", TEN.repeat(3));
        let key512 = format!("{}GEZDGNA=", TEN.repeat(6));
        for (seconds, sha1, sha256, sha512) in [
            (59, "94287082", "46119246", "90693936"),
            (1_111_111_109, "07081804", "68084774", "25091201"),
            (1_111_111_111, "14050471", "67062674", "99943326"),
            (1_234_567_890, "89005924", "91819424", "93441116"),
            (2_000_000_000, "69279037", "90698825", "38618901"),
            (20_000_000_000, "65353130", "77737706", "47863826"),
        ] {
            assert_eq!(code(&address(&key1, "SHA1"), seconds), sha1);
            assert_eq!(code(&address(&key256, "SHA256"), seconds), sha256);
            assert_eq!(code(&address(&key512, "sha512"), seconds), sha512);
        }
    }

    #[test]
    fn a_bare_key_yields_six_digits_every_thirty_seconds() {
        let key = &TEN.repeat(2);
        assert_eq!(code(key, 59), "287082");
        assert_eq!(code("gezd gnbv gy3t qojq gezd gnbv gy3t qojq", 1_111_111_109), "081804");
        assert_eq!(code(key, 30), code(key, 59));
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "",
            "not base32!",
            "18901890",
            "otpauth://hotp/a?secret=GEZDGNBV",
            "otpauth://totp/a",
            "otpauth://totp/a?digits=6",
            "otpauth://totp/a?secret=GEZDGNBV&digits=20",
            "otpauth://totp/a?secret=GEZDGNBV&period=0",
            "otpauth://totp/a?secret=GEZDGNBV&algorithm=MD5",
        ] {
            assert!(Totp::parse(bad).is_none(), "{bad}");
        }
    }
}
