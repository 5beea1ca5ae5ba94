//! What the proxy would do about a URL, without connecting.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use crate::{EgressError, Ground, Host, Limits, Policy, Resolve, Rule, Target, Via, gate};

/// What the proxy would do about a target, address by address.
#[derive(Debug)]
pub struct Explanation {
    /// What would be dialled.
    pub target: Target,
    /// Every address it stands for, with the verdict, or why there is none. A name that is handed
    /// to another proxy has no address here.
    pub addresses: Result<Vec<Judged>, EgressError>,
    /// The proxy that would be asked for the connection.
    pub leaves_by: Option<Target>,
}

/// An address and what the policy says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// The address.
    pub address: IpAddr,
    /// Why it would be dialled, or why not.
    pub verdict: Result<Ground, Rule>,
}

impl Judged {
    /// The rule that refuses it, or the range of the allowlist that opens it.
    pub fn reason(&self) -> Option<String> {
        match self.verdict {
            Ok(Ground::Public) => None,
            Ok(Ground::Allowlisted(range)) => Some(format!("{range} is on the allowlist")),
            Err(rule) => Some(rule.to_string()),
        }
    }
}

impl Explanation {
    /// Whether a connection would be tried.
    pub fn is_allowed(&self) -> bool {
        self.addresses.as_ref().is_ok_and(|found| {
            found.iter().any(|judged| judged.verdict.is_ok())
                || found.is_empty() && self.leaves_by.is_some()
        })
    }
}

/// Explains what the proxy would do about a URL, a host, or a host with its port, for a session that
/// leaves by `via`.
///
/// Fails only where the text names nothing that could be dialled.
pub async fn explain(
    text: &str,
    policy: &Policy,
    via: Option<&Via>,
    resolver: &dyn Resolve,
) -> Result<Explanation, EgressError> {
    let target = Target::of_url(text)?;
    let via = via.filter(|via| !via.bypasses(&target.host));
    let found = match (&target.host, via) {
        (Host::Name(name), Some(_)) => policy
            .judge_name(name)
            .map(|()| Vec::new())
            .map_err(|rule| EgressError::Denied { rule, address: None }),
        _ => gate::addresses(&target.host, policy, resolver, &Limits::default()).await,
    };
    let judge = |address| {
        let verdict = policy.judge(SocketAddr::new(address, target.port));
        Judged { address, verdict }
    };
    let addresses = found.map(|found| found.into_iter().map(judge).collect());
    Ok(Explanation { target, addresses, leaves_by: via.map(|via| via.server().clone()) })
}

impl fmt::Display for Explanation {
    /// One line per address, then the verdict and what can be done about it.
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
            (None, Some(server)) => write!(f, "allowed, by the session's proxy at {server}"),
            (None, None) => write!(f, "allowed"),
            (Some(_), _) if self.is_allowed() => {
                write!(f, "allowed, by the allowed addresses only")
            }
            (Some((address, rule)), _) => write!(f, "denied\n{}", rule.advice(Some(address))),
        }
    }
}
