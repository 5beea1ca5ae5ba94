//! Scopes: what a token allows.

use std::{borrow::Cow, collections::BTreeSet, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

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
    /// Read the audit log of all owners.
    pub const AUDIT_READ: Self = Self("audit:read");
    /// See credentials of the vault, never their secrets.
    pub const VAULT_READ: Self = Self("vault:read");
    /// Add, change, grant and delete credentials.
    pub const VAULT_WRITE: Self = Self("vault:write");

    /// Call models, which may cost money.
    pub const MODELS_USE: Self = Self("models:use");

    /// Every scope and what it allows. All scopes that operations require are listed here.
    pub const REGISTRY: [(Self, &str); 11] = [
        (Self::ADMIN, "everything, for all owners"),
        (Self::SESSIONS_READ, "see sessions and their logs"),
        (Self::SESSIONS_WRITE, "create and end sessions"),
        (Self::SESSIONS_ACT, "act in sessions and see their screens"),
        (Self::ARTIFACTS_READ, "see and download artifacts"),
        (Self::ARTIFACTS_WRITE, "upload and delete artifacts"),
        (Self::METRICS_READ, "read the server's metrics"),
        (Self::AUDIT_READ, "read the audit log of all owners"),
        (Self::VAULT_READ, "see credentials, without their secrets"),
        (Self::VAULT_WRITE, "add, change, grant and delete credentials"),
        (Self::MODELS_USE, "call models, which may cost money"),
    ];

    /// Families that are part of another one, so that tokens for all of it need not list them:
    /// sessions and their packs produce artifacts.
    pub const INCLUDED: [(&str, &str); 1] = [("artifacts", "sessions")];

    /// Everything that a token may hold: the registry, and whole families such as `sessions:*` or
    /// `sessions`.
    pub fn names() -> BTreeSet<String> {
        let family = |scope: &str| scope.split_once(':').map(|(family, _)| family.to_owned());
        let mut names = BTreeSet::new();
        for (scope, _) in Self::REGISTRY {
            names.insert(scope.0.to_owned());
            names.extend(family(scope.0).map(|family| format!("{family}:*")));
            names.extend(family(scope.0));
        }
        names
    }

    /// Whether a token may hold this scope.
    pub fn is_known(text: &str) -> bool {
        Self::names().contains(text)
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

/// The schema of a scope in a request.
pub struct ScopeName;

impl JsonSchema for ScopeName {
    fn schema_name() -> Cow<'static, str> {
        "Scope".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = Scope::names().into_iter().collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_that_no_operation_asks_for_is_unknown() {
        for known in [
            "admin",
            "sessions:read",
            "sessions:act",
            "sessions:*",
            "sessions",
            "metrics:*",
            "vault:*",
        ] {
            assert!(Scope::is_known(known), "{known}");
        }
        for unknown in
            ["foo", "", "*", "sessions:", "sessions:reed", "session:*", "admin:*", "read"]
        {
            assert!(!Scope::is_known(unknown), "{unknown}");
        }
    }
}
