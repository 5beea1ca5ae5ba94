//! Whether connections from other machines are encrypted.

use helmdeck_server::{
    Config,
    tls::{self, Advice},
};
use helmdeck_wire::error::with_causes;

use super::Finding;

pub(super) fn check(config: &Config) -> Finding {
    let what = "TLS";
    if let Err(error) = tls::check(config) {
        let fix = "set HELMDECK_TLS_CERT and HELMDECK_TLS_KEY to a certificate and its key";
        return Finding::missing(what, with_causes(&error), fix);
    }
    let public = config.live.vnc_public_base.as_ref();
    match Advice::of(config) {
        Some(Advice::Exposed { addr }) => Finding::warn(
            what,
            format!("{addr} is open to other machines without TLS"),
            "helmdeck serve --tls-self-signed, or set HELMDECK_TLS_SELF_SIGNED=true",
        ),
        _ if config.tls.self_signed => Finding::ok(what, "on, with a self-signed certificate"),
        _ if config.tls.is_on() => Finding::ok(what, "on"),
        _ => match public.filter(|base| base.scheme_str() == Some("https")) {
            Some(base) => Finding::ok(what, format!("off; expected of the proxy at {base}")),
            None => Finding::ok(what, "off; only this machine is served"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    fn check(env: &[(&str, &str)]) -> Finding {
        let env = env.iter().copied().chain([("HELMDECK_DATA_DIR", "/nonexistent")]);
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        super::check(&Config::load(None, env).unwrap())
    }

    #[test]
    fn an_address_for_other_machines_without_tls_is_a_warning_with_its_fix() {
        let finding = check(&[("HELMDECK_ADDR", ":3000")]);
        assert_eq!(finding.verdict, Verdict::Warn);
        assert!(finding.fix.contains("--tls-self-signed"), "{finding:?}");
        let tls = ("HELMDECK_TLS_SELF_SIGNED", "true");
        assert_eq!(check(&[("HELMDECK_ADDR", ":3000"), tls]).verdict, Verdict::Ok);
        assert_eq!(check(&[]).verdict, Verdict::Ok);
    }

    #[test]
    fn a_certificate_that_cannot_be_used_is_missing() {
        let files =
            [("HELMDECK_TLS_CERT", "/nonexistent/c"), ("HELMDECK_TLS_KEY", "/nonexistent/k")];
        let finding = check(&files);
        assert_eq!(finding.verdict, Verdict::Missing);
        assert!(finding.detail.contains("/nonexistent/c cannot be used"), "{finding:?}");
    }
}
