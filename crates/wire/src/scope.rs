//! Scopes: what a token allows.

use std::fmt;

/// One permission of a token: `family:verb`, or `admin`. Each operation requires one scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope(&'static str);

impl Scope {
    /// Change the server's settings, and access the resources of all owners.
    pub const ADMIN: Self = Self("admin");
    /// See sessions and their logs.
    pub const SESSIONS_READ: Self = Self("sessions:read");
    /// Create and end sessions.
    pub const SESSIONS_WRITE: Self = Self("sessions:write");
    /// Act in sessions and see their screens.
    pub const SESSIONS_ACT: Self = Self("sessions:act");
    /// See and download artifacts.
    pub const ARTIFACTS_READ: Self = Self("artifacts:read");
    /// Upload and delete artifacts.
    pub const ARTIFACTS_WRITE: Self = Self("artifacts:write");
    /// Read the server's metrics.
    pub const METRICS_READ: Self = Self("metrics:read");

    /// Every scope and what it allows. All scopes that operations require are listed here.
    pub const REGISTRY: [(Self, &str); 7] = [
        (Self::ADMIN, "everything, for all owners"),
        (Self::SESSIONS_READ, "see sessions and their logs"),
        (Self::SESSIONS_WRITE, "create and end sessions"),
        (Self::SESSIONS_ACT, "act in sessions and see their screens"),
        (Self::ARTIFACTS_READ, "see and download artifacts"),
        (Self::ARTIFACTS_WRITE, "upload and delete artifacts"),
        (Self::METRICS_READ, "read the server's metrics"),
    ];

    /// Families that are part of another one, so that tokens for all of it need not list them:
    /// sessions and their packs produce artifacts.
    pub const INCLUDED: [(&str, &str); 1] = [("artifacts", "sessions")];

    /// Whether a token may hold this scope: one of the registry, or a whole family such as
    /// `sessions:*`.
    pub fn is_known(text: &str) -> bool {
        let family = text.strip_suffix(":*").unwrap_or(text);
        Self::REGISTRY.iter().any(|(scope, _)| {
            scope.0 == text || scope.0.split_once(':').is_some_and(|(prefix, _)| prefix == family)
        })
    }

    /// The scope as it is written in a token.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_that_no_operation_asks_for_is_unknown() {
        for known in
            ["admin", "sessions:read", "sessions:act", "sessions:*", "sessions", "metrics:*"]
        {
            assert!(Scope::is_known(known), "{known}");
        }
        for unknown in
            ["foo", "", "*", "sessions:", "sessions:reed", "session:*", "admin:*", "read"]
        {
            assert!(!Scope::is_known(unknown), "{unknown}");
        }
    }
}
