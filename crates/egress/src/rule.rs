//! The reasons for a refusal, and how an operator opens an address.

use std::{fmt, net::IpAddr};

use crate::{Cidr, policy::MACHINE_NAME};

/// How to reach a server on the machine's loopback.
const FORWARD: &str = "To reach a server on the machine's own loopback, forward its port: create \
    the session with \"forward\": [\"localhost:PORT\"], or POST /api/v1/sessions/{id}/forwards; \
    then open http://localhost:PORT.";

/// The reason for a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The address is in a range that is closed by default.
    Range {
        /// The range.
        range: Cidr,
        /// What such addresses are.
        what: &'static str,
    },
    /// The address belongs to this machine, although it looks public.
    ThisMachine,
    /// helmdeck itself listens there. This cannot be opened.
    OwnListener,
    /// The name of a cloud's metadata server. This cannot be opened.
    MetadataName,
    /// `localhost`, requested from a proxy that runs outside the session.
    Localhost,
}

impl Rule {
    /// Advice in one sentence; `address` is the refused one.
    pub fn advice(&self, address: Option<IpAddr>) -> String {
        match (self, address) {
            (Self::OwnListener, _) => "This cannot be opened.".to_owned(),
            (Self::MetadataName, _) => "This name cannot be opened; its address can, where an \
                operator puts it on HELMDECK_EGRESS_ALLOWLIST and the client asks for the address."
                .to_owned(),
            (Self::Localhost, _) => format!(
                "Inside a session, localhost is the session itself and needs no proxy: set \
                 no_proxy=localhost,127.0.0.1,::1. {FORWARD}"
            ),
            (Self::Range { .. }, Some(address)) if address.is_loopback() => format!(
                "{FORWARD} Or an operator can open {MACHINE_NAME}: add {address} to \
                 HELMDECK_EGRESS_ALLOWLIST of the server."
            ),
            (Self::Range { .. } | Self::ThisMachine, Some(address)) => format!(
                "An operator can open it: add {address}, or a range that holds it, to \
                 HELMDECK_EGRESS_ALLOWLIST of the server."
            ),
            (Self::Range { .. } | Self::ThisMachine, None) => {
                "An operator can open it with HELMDECK_EGRESS_ALLOWLIST of the server.".to_owned()
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range { range, what } => write!(f, "{range} is closed: {what}"),
            Self::ThisMachine => f.write_str("the address belongs to this machine"),
            Self::OwnListener => f.write_str("helmdeck itself listens there"),
            Self::MetadataName => f.write_str("the name belongs to a cloud's metadata server"),
            Self::Localhost => {
                f.write_str("localhost means the session itself, which the proxy cannot reach")
            }
        }
    }
}
