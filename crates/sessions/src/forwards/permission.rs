//! Who may forward which ports of the server's machine.

use std::{net::Ipv4Addr, ops::RangeInclusive, sync::Arc};

use helmdeck_egress::{Policy, Rule};
use helmdeck_store::Store;
use helmdeck_wire::forward::ForwardRule;

use super::MAX_FORWARDS;
use crate::{Caller, SessionError, spec::invalid};

/// Rules about forwarding, shared by all sessions. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Permission {
    /// Ports that every caller may forward. An admin may forward others, too.
    allowed: Arc<[RangeInclusive<u16>]>,
    /// Knows where helmdeck itself listens.
    policy: Policy,
    store: Store,
}

impl Permission {
    pub fn new(allowed: Vec<RangeInclusive<u16>>, policy: Policy, store: Store) -> Self {
        Self { allowed: allowed.into(), policy, store }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Fails if the caller may not forward a port, or if two rules use the same port inside.
    pub fn check(&self, caller: &Caller, rules: &[ForwardRule]) -> Result<(), SessionError> {
        if rules.len() > MAX_FORWARDS {
            let reason = format!("{} ports: at most {MAX_FORWARDS}", rules.len());
            return Err(invalid("forward", reason));
        }
        for (at, rule) in rules.iter().enumerate() {
            if rules.iter().take(at).any(|other| other.port == rule.port) {
                let reason = format!("port {} inside the session is named twice", rule.port);
                return Err(invalid("forward", reason));
            }
            // A session must not reach the server that runs it as if it were local.
            let address = (Ipv4Addr::LOCALHOST, rule.to).into();
            if matches!(self.policy.judge(address), Err(Rule::OwnListener)) {
                return Err(SessionError::ForwardsServer(rule.to));
            }
            let allowed = self.allowed.iter().any(|range| range.contains(&rule.to));
            if !caller.is_admin() && !allowed {
                return Err(SessionError::ForwardDenied(rule.to));
            }
        }
        Ok(())
    }
}
