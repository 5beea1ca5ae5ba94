//! Signatures of requests: AWS Signature Version 4, in headers.

use std::fmt;

use ring::{
    digest::{SHA256, digest},
    hmac,
};
use secrecy::{ExposeSecret, SecretString};
use time::OffsetDateTime;

/// The headers that are signed.
const SIGNED: &str = "host;x-amz-content-sha256;x-amz-date";

/// Signs requests for a region.
pub(crate) struct Signer {
    access_key: String,
    secret_key: SecretString,
    region: String,
}

/// What is signed of a request.
pub(crate) struct Signable<'a> {
    pub method: &'a str,
    pub path: &'a str,
    /// As [`crate::query::query`] makes it.
    pub query: &'a str,
    pub host: &'a str,
    /// SHA-256 of the body, in hexadecimal.
    pub payload: &'a str,
}

/// The values of two headers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// `x-amz-date`.
    pub date: String,
    /// `authorization`.
    pub authorization: String,
}

impl Signer {
    pub fn new(access_key: String, secret_key: SecretString, region: String) -> Self {
        Self { access_key, secret_key, region }
    }

    pub fn sign(&self, request: &Signable<'_>, now: OffsetDateTime) -> Signature {
        let Signable { method, path, query, host, payload } = request;
        let (date, time) = (Date(now), Time(now));
        let canonical = format!(
            "{method}\n{path}\n{query}\nhost:{host}\nx-amz-content-sha256:{payload}\n\
             x-amz-date:{time}\n\n{SIGNED}\n{payload}"
        );
        let scope = format!("{date}/{}/s3/aws4_request", self.region);
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", sha256(canonical.as_bytes()));
        let secret = format!("AWS4{}", self.secret_key.expose_secret());
        let parts = [&date.to_string(), &self.region, "s3", "aws4_request", &text];
        let signature = parts.iter().fold(secret.into_bytes(), |key, part| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
            hmac::sign(&key, part.as_bytes()).as_ref().to_vec()
        });
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={SIGNED}, Signature={}",
            self.access_key,
            hexadecimal(&signature)
        );
        Signature { date: time.to_string(), authorization }
    }
}

/// The SHA-256 of bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(digest(&SHA256, bytes).as_ref())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `20130524`.
struct Date(OffsetDateTime);

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}{:02}{:02}", self.0.year(), u8::from(self.0.month()), self.0.day())
    }
}

/// `20130524T000000Z`.
struct Time(OffsetDateTime);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second) = self.0.to_hms();
        write!(f, "{}T{hour:02}{minute:02}{second:02}Z", Date(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification.
    #[test]
    fn the_examples_of_aws_have_their_signatures() {
        let secret = SecretString::from("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
        let signer = Signer::new("AKIAIOSFODNN7EXAMPLE".into(), secret, "us-east-1".into());
        let now = OffsetDateTime::from_unix_timestamp(1_369_353_600).unwrap();
        for (query, signature) in [
            ("lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            (
                "max-keys=2&prefix=J",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            ),
        ] {
            let request = Signable {
                method: "GET",
                path: "/",
                query,
                host: "examplebucket.s3.amazonaws.com",
                payload: &sha256(b""),
            };
            let signed = signer.sign(&request, now);
            assert_eq!(signed.date, "20130524T000000Z");
            let expected = format!(
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
                 SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature={signature}"
            );
            assert_eq!(signed.authorization, expected);
        }
    }
}
