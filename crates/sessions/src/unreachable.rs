//! Explains why a page did not load, from the browser's error and the session's connections.

use helmdeck_egress::{Decision, Failure, Host, Target, Verdict};
use helmdeck_wire::{
    ErrorBody, ErrorCode, SessionId,
    forward::{Forward, ForwardedFrom},
};

use crate::{Session, SessionError};

/// Text between the address and the browser's error in the guest's message.
const NOT_LOADED: &str = " could not be loaded: ";
/// Browser errors for a connection that ended without a response.
const NO_ANSWER: [&str; 4] =
    ["ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_SOCKET_NOT_CONN"];

impl Session {
    /// The current position among its connections, for [`Self::unreachable`].
    pub fn connections(&self) -> u64 {
        self.inner.egress.mark()
    }

    /// Explains why a program could not reach an address, if a connection to it failed since then.
    pub fn unreachable(&self, mark: u64, url: &str) -> Option<ErrorBody> {
        let target = Target::from_url(url).ok()?;
        let decisions = self.inner.egress.since(mark);
        let failed = decisions.iter().find(|decision| leads_to(decision, &target))?;
        Some(of_decision(url, failed))
    }

    /// Explains why a navigation failed that started at this mark, if the cause is known here.
    pub(crate) fn explained(&self, mark: u64, error: SessionError) -> SessionError {
        match error {
            SessionError::Refused(body) if body.error == ErrorCode::NavigationFailed => {
                let decisions = self.inner.egress.since(mark);
                let forward = |port| self.inner.forwards.find(port);
                let known = explain(self.id(), &body.message, &decisions, forward);
                SessionError::Refused(known.unwrap_or(body))
            }
            other => other,
        }
    }
}

/// A better error than the browser's, if there is one. `decisions` are the failed connections since
/// the navigation started, newest first.
fn explain(
    id: &SessionId,
    message: &str,
    decisions: &[Decision],
    forward: impl Fn(u16) -> Option<Forward>,
) -> Option<ErrorBody> {
    let (url, why) = message.rsplit_once(NOT_LOADED)?;
    // History steps have no address.
    let target = Target::from_url(url).ok();
    if let Some(target) = target.as_ref().filter(|target| is_loopback(&target.host)) {
        return loopback(id, url, target.port, why, forward(target.port));
    }
    let asked_for =
        |decision: &&Decision| target.as_ref().is_some_and(|target| leads_to(decision, target));
    // After a redirect, the failing host differs from the requested one.
    let proxied = why.contains("ERR_TUNNEL_CONNECTION_FAILED") || why.contains("the proxy");
    let decision = decisions.iter().find(asked_for).or(decisions.first().filter(|_| proxied))?;
    Some(of_decision(url, decision))
}

fn leads_to(decision: &Decision, target: &Target) -> bool {
    decision.host == target.host.to_string() && decision.port == target.port
}

fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Address(address) => address.is_loopback(),
        Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
    }
}

/// Loopback bypasses the proxy: nothing listens there, or the forwarded port does not answer.
fn loopback(
    id: &SessionId,
    url: &str,
    port: u16,
    why: &str,
    forward: Option<Forward>,
) -> Option<ErrorBody> {
    let refused = why.contains("ERR_CONNECTION_REFUSED");
    let unanswered = NO_ANSWER.iter().any(|error| why.contains(error));
    let message = match forward {
        Some(Forward { to_port, from, .. }) if refused || unanswered => {
            let place = match from {
                ForwardedFrom::Server => "the server's machine",
                ForwardedFrom::Client => "the machine that runs `helmdeck forward`",
            };
            format!(
                "{url}{NOT_LOADED}port {port} is forwarded to localhost:{to_port} of {place}, \
                 where nothing answers. Start the server there, and try again."
            )
        }
        None if refused => format!(
            "{url}{NOT_LOADED}nothing listens on port {port} of the session, whose loopback is its \
             own. To reach port {port} of the server's machine, forward it: POST \
             /api/v1/sessions/{id}/forwards {{\"forward\": \"localhost:{port}\"}}, or create the \
             session with \"forward\": [\"localhost:{port}\"]. For your own machine, run \
             `helmdeck forward {id} {port}`."
        ),
        _ => return None,
    };
    Some(ErrorBody::new(ErrorCode::ConnectionRefused, message))
}

fn of_decision(url: &str, decision: &Decision) -> ErrorBody {
    let Decision { host, port, address, verdict, .. } = decision;
    let (code, reason) = match verdict {
        Verdict::Denied(rule) => {
            let advice = rule.advice(*address);
            let reason = format!("{host}:{port} is refused by a rule: {rule}. {advice}");
            (ErrorCode::EgressDenied, reason)
        }
        Verdict::Failed(Failure::Unresolved) => {
            let reason = format!("the name {host} does not resolve on the server's machine");
            (ErrorCode::HostNotFound, reason)
        }
        Verdict::Failed(Failure::Unreachable) => {
            let at = address.map_or_else(String::new, |address| format!(" ({address})"));
            (ErrorCode::ConnectionRefused, format!("{host}:{port}{at} refused the connection"))
        }
        Verdict::Failed(Failure::Deadline) => {
            (ErrorCode::NavigationFailed, format!("{host}:{port} did not answer in time"))
        }
        Verdict::Failed(Failure::Proxy(title)) => {
            (ErrorCode::NavigationFailed, format!("{title} (requested: {host}:{port})"))
        }
        Verdict::Failed(Failure::Malformed) | Verdict::Allowed => {
            (ErrorCode::NavigationFailed, format!("{host}:{port} cannot be reached"))
        }
    };
    ErrorBody::new(code, format!("{url}{NOT_LOADED}{reason}"))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use helmdeck_egress::{Policy, Scheme};

    use super::*;

    fn decision(to: &str, verdict: Verdict) -> Decision {
        let target = Target::parse(to, None).unwrap();
        let address = match target.host {
            Host::Address(address) => Some(address),
            Host::Name(_) => None,
        };
        let (host, port) = (target.host.to_string(), target.port);
        Decision { host, port, address, scheme: Scheme::Connect, verdict }
    }

    fn denied(to: &str) -> Decision {
        let address: SocketAddr = to.parse().unwrap();
        decision(to, Verdict::Denied(Policy::new([], []).judge(address).unwrap_err()))
    }

    fn said(url: &str, why: &str, decisions: &[Decision], to: Option<u16>) -> (ErrorCode, String) {
        let from = ForwardedFrom::Server;
        let forward = |port| to.map(|to_port| Forward { port, to_port, from });
        let message = format!("{url}{NOT_LOADED}{why}");
        match explain(&SessionId::new("sess-1"), &message, decisions, forward) {
            Some(body) => (body.error, body.message),
            None => (ErrorCode::NavigationFailed, message),
        }
    }

    const TUNNEL: &str = "net::ERR_TUNNEL_CONNECTION_FAILED";

    #[test]
    fn a_refused_host_is_a_typed_error_with_the_rule_and_what_to_do() {
        let decisions = [denied("127.0.0.9:1"), denied("10.0.0.1:443")];
        let (code, message) = said("https://10.0.0.1/x", TUNNEL, &decisions, None);
        assert_eq!(code, ErrorCode::EgressDenied);
        for part in ["10.0.0.0/8 is closed", "HELMDECK_EGRESS_ALLOWLIST", "10.0.0.1:443"] {
            assert!(message.contains(part), "{message}");
        }
        // After a redirect, the host differs from the requested one.
        let (code, message) = said("https://example.com/", TUNNEL, &decisions, None);
        assert_eq!(code, ErrorCode::EgressDenied);
        assert!(message.contains("127.0.0.9") && message.contains("\"forward\""), "{message}");
        // Other requests of the page do not explain a failure of another kind.
        let (code, _) =
            said("https://example.com/", "net::ERR_CERT_DATE_INVALID", &decisions, None);
        assert_eq!(code, ErrorCode::NavigationFailed);
    }

    #[test]
    fn hosts_that_do_not_resolve_or_answer_have_their_own_codes() {
        let unresolved = decision("nope.example:443", Verdict::Failed(Failure::Unresolved));
        let (code, message) = said("https://nope.example/", TUNNEL, &[unresolved], None);
        assert_eq!(code, ErrorCode::HostNotFound);
        assert!(message.contains("nope.example does not resolve"), "{message}");
        let unreachable = decision("a.example:443", Verdict::Failed(Failure::Unreachable));
        let (code, _) = said("https://a.example/", TUNNEL, &[unreachable], None);
        assert_eq!(code, ErrorCode::ConnectionRefused);
    }

    #[test]
    fn an_empty_loopback_port_says_how_to_forward_it() {
        let refused = "net::ERR_CONNECTION_REFUSED";
        for url in ["http://localhost:5173/a", "http://127.0.0.1:5173", "http://[::1]:5173/"] {
            let (code, message) = said(url, refused, &[], None);
            assert_eq!(code, ErrorCode::ConnectionRefused);
            for part in ["/api/v1/sessions/sess-1/forwards", "helmdeck forward sess-1 5173"] {
                assert!(message.contains(part), "{message}");
            }
        }
        let url = "http://localhost:3000/";
        let (code, message) = said(url, "net::ERR_EMPTY_RESPONSE", &[], Some(8080));
        assert_eq!(code, ErrorCode::ConnectionRefused);
        assert!(message.contains("forwarded to localhost:8080"), "{message}");
        // An invalid response of a program inside is the page's own failure.
        let (code, _) = said(url, "net::ERR_EMPTY_RESPONSE", &[], None);
        assert_eq!(code, ErrorCode::NavigationFailed);
    }
}
