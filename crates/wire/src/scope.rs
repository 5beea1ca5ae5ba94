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
    /// Read the server's metrics.
    pub const METRICS_READ: Self = Self("metrics:read");

    /// Every scope and what it allows. All scopes that operations require are listed here.
    pub const REGISTRY: [(Self, &str); 5] = [
        (Self::ADMIN, "everything, for all owners"),
        (Self::SESSIONS_READ, "see sessions and their logs"),
        (Self::SESSIONS_WRITE, "create and end sessions"),
        (Self::SESSIONS_ACT, "act in sessions and see their screens"),
        (Self::METRICS_READ, "read the server's metrics"),
    ];

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
