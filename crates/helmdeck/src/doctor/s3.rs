//! Whether the S3 bucket for artifacts can be used.

use helmdeck_server::{Config, artifact_store};
use helmdeck_wire::error::with_causes;

use super::Finding;

/// Nothing without a bucket.
pub(super) fn check(config: &Config) -> Option<Finding> {
    let what = "S3 bucket";
    let fix = "correct the HELMDECK_S3_* settings, or unset HELMDECK_S3_BUCKET";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let checked = match runtime {
        Ok(runtime) => runtime.block_on(artifact_store::check(config)),
        Err(error) => return Some(Finding::missing(what, error.to_string(), "")),
    };
    match checked {
        Ok(place) => place.map(|place| Finding::ok(what, place)),
        Err(error) => Some(Finding::missing(what, with_causes(&error), fix)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    fn check(env: &[(&str, &str)]) -> Option<Finding> {
        let env = env.iter().copied().chain([("HELMDECK_DATA_DIR", "/nonexistent")]);
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        super::check(&Config::load(None, env).unwrap())
    }

    #[test]
    fn a_bucket_that_cannot_be_reached_is_missing() {
        assert_eq!(check(&[]), None);
        // A port that was just closed.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let finding = check(&[
            ("HELMDECK_S3_BUCKET", "files"),
            ("HELMDECK_S3_ENDPOINT", &format!("http://127.0.0.1:{port}")),
            ("HELMDECK_S3_ACCESS_KEY", "AKIA"),
            ("HELMDECK_S3_SECRET_KEY", "secret"),
        ]);
        let finding = finding.unwrap();
        assert_eq!(finding.verdict, Verdict::Missing);
        assert!(finding.detail.contains("cannot be reached"), "{finding:?}");
    }
}
