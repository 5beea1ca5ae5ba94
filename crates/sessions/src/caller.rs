//! Who asks, and what they may.

/// What a token may allow. Each operation names one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// See sessions and their logs.
    SessionsRead,
    /// Create and end sessions.
    SessionsWrite,
    /// Act inside sessions and look at their screens.
    SessionsAct,
    /// Read the server's figures.
    MetricsRead,
    /// Change the server's settings.
    Admin,
}

impl Scope {
    /// The scope as it stands in a token.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionsRead => "sessions:read",
            Self::SessionsWrite => "sessions:write",
            Self::SessionsAct => "sessions:act",
            Self::MetricsRead => "metrics:read",
            Self::Admin => "admin",
        }
    }
}

/// An authenticated client. Only the server's authentication makes one.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// Who it is: the token's `sub`.
    pub subject: String,
    /// What it may: the token's scopes.
    pub scopes: Vec<String>,
    /// Which token it uses: the token's `jti`.
    pub token: String,
    /// Whether a person asks, in the web page.
    pub by_hand: bool,
}

impl Caller {
    /// Whether the caller may see and end everybody's sessions.
    pub fn is_admin(&self) -> bool {
        self.scopes.iter().any(|scope| scope == "admin")
    }

    /// Whether the token allows an operation: by the scope itself, by `family:*`, or by `admin`.
    pub fn may(&self, scope: Scope) -> bool {
        let wanted = scope.as_str();
        let family = wanted.split(':').next().unwrap_or(wanted);
        self.is_admin()
            || self.scopes.iter().any(|have| {
                have == wanted
                    || have == family
                    || have.strip_suffix(":*").is_some_and(|prefix| prefix == family)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(scopes: &[&str]) -> Caller {
        let scopes = scopes.iter().map(|s| (*s).to_owned()).collect();
        Caller { subject: "agent".into(), scopes, token: "t".into(), by_hand: false }
    }

    #[test]
    fn a_scope_is_granted_by_name_by_family_or_to_an_admin() {
        assert!(caller(&["sessions:read"]).may(Scope::SessionsRead));
        assert!(!caller(&["sessions:read"]).may(Scope::SessionsWrite));
        assert!(caller(&["sessions:*"]).may(Scope::SessionsAct));
        assert!(caller(&["sessions"]).may(Scope::SessionsAct));
        assert!(!caller(&["sessions:*"]).may(Scope::MetricsRead));
        assert!(!caller(&["session:*", "sess"]).may(Scope::SessionsRead));
        assert!(caller(&["admin"]).may(Scope::MetricsRead));
        assert!(!caller(&[]).may(Scope::SessionsRead));
    }
}
