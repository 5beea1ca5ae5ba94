//! Failures of a service, in words for the operator.

use std::{io, time::Duration};

use http::StatusCode;

use crate::xml;

/// Why a request to a bucket failed.
#[derive(Debug, thiserror::Error)]
pub enum S3Error {
    /// The settings of the bucket are invalid.
    #[error("{0}")]
    Settings(&'static str),
    /// No connection, or a broken one.
    #[error("the S3 service {endpoint} cannot be reached")]
    Unreachable {
        /// The service.
        endpoint: String,
        /// What happened.
        #[source]
        source: io::Error,
    },
    /// TLS failed.
    #[error(
        "TLS with the S3 service {endpoint} failed: if it speaks plain HTTP, begin \
         HELMDECK_S3_ENDPOINT with http://"
    )]
    Tls {
        /// The service.
        endpoint: String,
        /// What happened.
        #[source]
        source: io::Error,
    },
    /// No answer within the deadline.
    #[error("the S3 service {endpoint} does not answer within {} s", .limit.as_secs())]
    Silent {
        /// The service.
        endpoint: String,
        /// The deadline.
        limit: Duration,
    },
    /// The object does not exist.
    #[error("the object does not exist in the bucket")]
    NotFound,
    /// The bucket does not exist.
    #[error(
        "the bucket {bucket:?} does not exist at {endpoint}: create it, or check \
         HELMDECK_S3_BUCKET and HELMDECK_S3_ENDPOINT"
    )]
    NoSuchBucket {
        /// The bucket.
        bucket: String,
        /// The service.
        endpoint: String,
    },
    /// The key may not do this.
    #[error(
        "access to the bucket {bucket:?} is denied: check HELMDECK_S3_ACCESS_KEY and its \
         permissions ({code})"
    )]
    AccessDenied {
        /// The bucket.
        bucket: String,
        /// The code of the service.
        code: String,
    },
    /// The secret key or the region is wrong.
    #[error(
        "the S3 service rejects the signature: check HELMDECK_S3_SECRET_KEY and HELMDECK_S3_REGION"
    )]
    Signature,
    /// The bucket is elsewhere.
    #[error(
        "the bucket {bucket:?} is in another region or at another endpoint{}: check \
         HELMDECK_S3_REGION and HELMDECK_S3_ENDPOINT", .region.as_deref().map(|it| format!(" ({it})")).unwrap_or_default()
    )]
    Elsewhere {
        /// The bucket.
        bucket: String,
        /// The region, if the service names it.
        region: Option<String>,
    },
    /// The clocks differ.
    #[error("the S3 service reports another time: set the clock of this machine")]
    Clock,
    /// The service has no room.
    #[error("the S3 service has no space left ({code})")]
    Full {
        /// The code of the service.
        code: String,
    },
    /// Another failure.
    #[error("the S3 service answers {status} {code}: {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The code of the service.
        code: String,
        /// Its message.
        message: String,
    },
    /// An answer that is not S3.
    #[error("the answer of {endpoint} is not that of an S3 service: {what}")]
    NotS3 {
        /// The service.
        endpoint: String,
        /// What is wrong.
        what: String,
    },
    /// The file to upload cannot be read.
    #[error("the file to upload cannot be read")]
    Source(#[source] io::Error),
}

/// Longest message of a service that is shown.
const MAX_MESSAGE: usize = 300;

/// A failed response.
pub(crate) struct Failed<'a> {
    pub endpoint: String,
    pub bucket: &'a str,
    pub status: StatusCode,
    /// `x-amz-bucket-region`.
    pub region: Option<String>,
    pub body: &'a str,
}

impl Failed<'_> {
    pub fn error(self) -> S3Error {
        let Self { endpoint, bucket, status, region, body } = self;
        let error = xml::all(body, "Error").first().copied();
        let code = error.and_then(|it| xml::text(it, "Code")).unwrap_or_default();
        let named = error.and_then(|it| xml::text(it, "Region"));
        let bucket = bucket.to_owned();
        let elsewhere = |bucket| S3Error::Elsewhere { bucket, region: region.or(named) };
        match (code.as_str(), status.as_u16()) {
            ("NoSuchBucket", _) => S3Error::NoSuchBucket { bucket, endpoint },
            ("NoSuchKey", _) => S3Error::NotFound,
            ("SignatureDoesNotMatch", _) => S3Error::Signature,
            ("RequestTimeTooSkewed", _) => S3Error::Clock,
            ("AuthorizationHeaderMalformed" | "PermanentRedirect" | "TemporaryRedirect", _)
            | (_, 300..=399) => elsewhere(bucket),
            (_, 401 | 403) => {
                let code = if code.is_empty() { status.to_string() } else { code };
                S3Error::AccessDenied { bucket, code }
            }
            // An answer to HEAD has no body.
            ("", 404) if body.is_empty() => S3Error::NotFound,
            (_, 507) => S3Error::Full { code: "507".into() },
            (full, _) if full.contains("StorageFull") || full.contains("QuotaExceeded") => {
                S3Error::Full { code }
            }
            // Proxies answer with pages of HTML.
            ("", 400..=499) => S3Error::NotS3 { endpoint, what: format!("status {status}") },
            _ => {
                let message = error.and_then(|it| xml::text(it, "Message")).unwrap_or_default();
                let message = message.chars().take(MAX_MESSAGE).collect();
                S3Error::Refused { status: status.as_u16(), code, message }
            }
        }
    }
}

impl S3Error {
    /// Whether the same request may succeed soon.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Silent { .. } => true,
            Self::Refused { status, code, .. } => {
                matches!(status, 408 | 429 | 500 | 502..=504)
                    || matches!(code.as_str(), "InternalError" | "SlowDown" | "RequestTimeout")
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, body: &str) -> S3Error {
        let status = StatusCode::from_u16(status).unwrap();
        let endpoint = "http://s3.example".to_owned();
        Failed { endpoint, bucket: "files", status, region: None, body }.error()
    }

    fn coded(status: u16, code: &str) -> S3Error {
        error(status, &format!("<Error><Code>{code}</Code><Message>why</Message></Error>"))
    }

    #[test]
    fn an_error_names_the_setting_to_check() {
        for (status, code, expected) in [
            (404, "NoSuchBucket", "the bucket \"files\" does not exist"),
            (403, "AccessDenied", "check HELMDECK_S3_ACCESS_KEY"),
            (403, "InvalidAccessKeyId", "check HELMDECK_S3_ACCESS_KEY"),
            (403, "SignatureDoesNotMatch", "check HELMDECK_S3_SECRET_KEY"),
            (301, "PermanentRedirect", "check HELMDECK_S3_REGION"),
            (403, "RequestTimeTooSkewed", "set the clock"),
            (500, "XMinioStorageFull", "no space left"),
            (503, "SlowDown", "503 SlowDown: why"),
        ] {
            let shown = coded(status, code).to_string();
            assert!(shown.contains(expected), "{shown}");
        }
        let region =
            "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-1</Region></Error>";
        assert!(error(400, region).to_string().contains("(eu-1)"));
        assert!(error(404, "<html>Not Found</html>").to_string().contains("is not that of an S3"));
        assert!(matches!(error(404, ""), S3Error::NotFound));
    }

    #[test]
    fn only_failures_that_may_pass_are_tried_again() {
        for (status, code, again) in [
            (500, "InternalError", true),
            (503, "SlowDown", true),
            (200, "InternalError", true),
            (403, "AccessDenied", false),
            (404, "NoSuchBucket", false),
            (501, "NotImplemented", false),
            (400, "EntityTooSmall", false),
        ] {
            assert_eq!(coded(status, code).may_pass(), again, "{code}");
        }
        assert!(error(502, "<html>").may_pass());
    }
}
