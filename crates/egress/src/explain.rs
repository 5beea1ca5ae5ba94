//! Explains what the proxy would do with a URL, without connecting.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use crate::{
    AllowReason, EgressError, Host, Policy, ProxyLimits, Resolve, Rule, Target, Via,
    connection_gate,
};

/// What the proxy would do with a target, address by address.
#[derive(Debug)]
pub struct Explanation {
    /// The target that would be dialled.
    pub target: Target,
    /// Every address of the target with its verdict, or why there is none. A name that an upstream
    /// proxy resolves has no address here.
    pub addresses: Result<Vec<Judged>, EgressError>,
    /// The upstream proxy that would be used.
    pub leaves_by: Option<Target>,
}

/// An address and the policy's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// The address.
    pub address: IpAddr,
    /// Why it would be dialled, or why not.
    pub verdict: Result<AllowReason, Rule>,
}

impl Judged {
    /// The rule that refuses it, or the allowlisted range that opens it.
    pub fn reason(&self) -> Option<String> {
        match self.verdict {
            Ok(AllowReason::Public) => None,
            Ok(AllowReason::Allowlisted(range)) => Some(format!("{range} is on the allowlist")),
            Err(rule) => Some(rule.to_string()),
        }
    }
}

impl Explanation {
    /// Whether a connection would be attempted.
    pub fn is_allowed(&self) -> bool {
        self.addresses.as_ref().is_ok_and(|found| {
            found.iter().any(|judged| judged.verdict.is_ok())
                || found.is_empty() && self.leaves_by.is_some()
        })
    }
}

/// Explains what the proxy would do with a URL, a host, or a host and port, for a session with the
/// upstream proxy `via`.
///
/// Fails only if the text is not a valid target.
pub async fn explain(
    text: &str,
    policy: &Policy,
    via: Option<&Via>,
    resolver: &dyn Resolve,
) -> Result<Explanation, EgressError> {
    let target = Target::from_url(text)?;
    let via = via.filter(|via| !via.bypasses(&target.host));
    let found = match (&target.host, via) {
        (Host::Name(name), Some(_)) => policy
            .judge_name(name)
            .map(|()| Vec::new())
            .map_err(|rule| EgressError::Denied { rule, address: None }),
        _ => {
            connection_gate::addresses(&target.host, policy, resolver, &ProxyLimits::default())
                .await
        }
    };
    let judge = |address| {
        let verdict = policy.judge(SocketAddr::new(address, target.port));
        Judged { address, verdict }
    };
    let addresses = found.map(|found| found.into_iter().map(judge).collect());
    Ok(Explanation { target, addresses, leaves_by: via.map(|via| via.server().clone()) })
}

impl fmt::Display for Explanation {
    /// Writes one line per address, then the verdict and advice.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.target)?;
        let addresses = match &self.addresses {
            Ok(addresses) => addresses,
            Err(EgressError::Denied { rule, address }) => {
                return write!(f, "denied: {rule}\n{}", rule.advice(*address));
            }
            Err(error) => return write!(f, "failed: {error}"),
        };
        for judged in addresses {
            let verdict = if judged.verdict.is_ok() { "allowed" } else { "denied" };
            match judged.reason() {
                Some(reason) => writeln!(f, "  {}  {verdict}: {reason}", judged.address)?,
                None => writeln!(f, "  {}  {verdict}", judged.address)?,
            }
        }
        let refused = addresses.iter().find_map(|j| Some((j.address, j.verdict.err()?)));
        match (refused, &self.leaves_by) {
            (None, Some(server)) => write!(f, "allowed, through the session's proxy at {server}"),
            (None, None) => write!(f, "allowed"),
            (Some(_), _) if self.is_allowed() => {
                write!(f, "allowed, through the allowed addresses only")
            }
            (Some((address, rule)), _) => write!(f, "denied\n{}", rule.advice(Some(address))),
        }
    }
}
