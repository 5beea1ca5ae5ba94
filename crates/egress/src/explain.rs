//! What the proxy would do about a URL, without connecting.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use crate::{EgressError, Ground, Limits, Policy, Resolve, Rule, Target, gate};

/// What the proxy would do about a target, address by address.
#[derive(Debug)]
pub struct Explanation {
    /// What would be dialled.
    pub target: Target,
    /// Every address it stands for, with the verdict, or why there is none.
    pub addresses: Result<Vec<Judged>, EgressError>,
}

/// An address and what the policy says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// The address.
    pub address: IpAddr,
    /// Why it would be dialled, or why not.
    pub verdict: Result<Ground, Rule>,
}

impl Explanation {
    /// Whether a connection would be tried.
    pub fn is_allowed(&self) -> bool {
        self.addresses.as_ref().is_ok_and(|found| found.iter().any(|judged| judged.verdict.is_ok()))
    }
}

/// Explains what the proxy would do about a URL, a host, or a host with its port.
///
/// Fails only where the text names nothing that could be dialled.
pub async fn explain(
    text: &str,
    policy: &Policy,
    resolver: &dyn Resolve,
) -> Result<Explanation, EgressError> {
    let target = Target::of_url(text)?;
    let found = gate::addresses(&target.host, policy, resolver, &Limits::default()).await;
    let judge = |address| {
        let verdict = policy.judge(SocketAddr::new(address, target.port));
        Judged { address, verdict }
    };
    let addresses = found.map(|found| found.into_iter().map(judge).collect());
    Ok(Explanation { target, addresses })
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
        for Judged { address, verdict } in addresses {
            match verdict {
                Ok(Ground::Public) => writeln!(f, "  {address}  allowed")?,
                Ok(Ground::Allowlisted(range)) => {
                    writeln!(f, "  {address}  allowed: {range} is on the allowlist")?;
                }
                Err(rule) => writeln!(f, "  {address}  denied: {rule}")?,
            }
        }
        let refused = addresses.iter().find_map(|j| Some((j.address, j.verdict.err()?)));
        match refused {
            None => write!(f, "allowed"),
            Some(_) if self.is_allowed() => write!(f, "allowed, by the allowed addresses only"),
            Some((address, rule)) => write!(f, "denied\n{}", rule.advice(Some(address))),
        }
    }
}
