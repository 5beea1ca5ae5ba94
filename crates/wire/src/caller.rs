//! Callers and their scopes.

use std::net::IpAddr;

use crate::{
    history::{Actor, ActorKind},
    scope::Scope,
};

/// An authenticated client. Only the server's authentication creates one.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// Subject of the token: `sub`.
    pub subject: String,
    /// Scopes of the token.
    pub scopes: Vec<String>,
    /// Id of the token: `jti`.
    pub token: String,
    /// Whether it is an agent, a person, or the holder of a ticket.
    pub kind: ActorKind,
    /// The label of the token or ticket, if it has one.
    pub label: Option<String>,
    /// Where the request came from, if known.
    pub address: Option<IpAddr>,
}

impl Caller {
    /// Whether the caller may see and end everybody's sessions.
    pub fn is_admin(&self) -> bool {
        self.scopes.iter().any(|scope| scope == "admin")
    }

    /// Whether the token allows an operation: by the scope itself, by `family:*`, by the whole of a
    /// family that includes it, or by `admin`.
    pub fn may(&self, scope: Scope) -> bool {
        self.covers(scope.as_str())
    }

    /// Whether the caller's scopes include this one, written as in a token.
    pub fn covers(&self, scope: &str) -> bool {
        let family = scope.split(':').next().unwrap_or(scope);
        let including = Scope::INCLUDED.iter().find(|(part, _)| *part == family);
        let including = including.map(|(_, whole)| *whole);
        self.is_admin()
            || self.scopes.iter().any(|have| {
                let whole = have.strip_suffix(":*").unwrap_or(have);
                have == scope || whole == family || Some(whole) == including
            })
    }

    /// Whether the caller may see and use what `owner` owns.
    pub fn owns(&self, owner: &str) -> bool {
        self.is_admin() || self.subject == owner
    }

    /// The owner whose resources the caller may see. `None` for an admin, who sees everything.
    pub fn limited_to(&self) -> Option<&str> {
        (!self.is_admin()).then_some(self.subject.as_str())
    }

    /// The actor recorded for what this caller does.
    pub fn actor(&self) -> Actor {
        let (subject, label) = (self.subject.clone(), self.label.clone());
        Actor { kind: self.kind, subject, label, address: self.address }
    }
}

impl From<&Caller> for Actor {
    fn from(caller: &Caller) -> Self {
        caller.actor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(scopes: &[&str]) -> Caller {
        let scopes = scopes.iter().map(|s| (*s).to_owned()).collect();
        Caller { subject: "agent".into(), scopes, token: "t".into(), ..Caller::default() }
    }

    #[test]
    fn a_scope_is_granted_by_name_by_family_or_to_an_admin() {
        assert!(caller(&["sessions:read"]).may(Scope::SESSIONS_READ));
        assert!(!caller(&["sessions:read"]).may(Scope::SESSIONS_WRITE));
        assert!(caller(&["sessions:*"]).may(Scope::SESSIONS_ACT));
        assert!(caller(&["sessions"]).may(Scope::SESSIONS_ACT));
        assert!(!caller(&["sessions:*"]).may(Scope::METRICS_READ));
        assert!(!caller(&["sessions:*"]).may(Scope::VAULT_READ));
        assert!(!caller(&["session:*", "sess"]).may(Scope::SESSIONS_READ));
        assert!(caller(&["admin"]).may(Scope::METRICS_READ));
        assert!(!caller(&[]).may(Scope::SESSIONS_READ));
        assert!(caller(&["sessions"]).covers("sessions:*"));
        assert!(!caller(&["sessions:read"]).covers("sessions:*"));
        assert!(!caller(&["sessions:*"]).covers("admin"));
    }

    #[test]
    fn a_token_for_all_of_sessions_includes_artifacts_and_smaller_ones_do_not() {
        for all in ["sessions:*", "sessions", "artifacts:*", "artifacts", "admin"] {
            assert!(caller(&[all]).may(Scope::ARTIFACTS_READ), "{all}");
            assert!(caller(&[all]).covers("artifacts:*"), "{all}");
        }
        for less in ["sessions:read", "sessions:act", "artifacts:read", "metrics:*"] {
            assert!(!caller(&[less]).may(Scope::ARTIFACTS_WRITE), "{less}");
        }
        assert!(!caller(&["artifacts:*"]).may(Scope::SESSIONS_READ));
    }
}
