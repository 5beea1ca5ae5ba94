//! The only way out of a sandbox: the policy for addresses, and the proxy that dials them.
//!
//! [`Policy`] decides, without I/O. [`ConnectionGate`] resolves a name once, judges every address, and dials
//! one that passed. Nothing is resolved again after that, so DNS rebinding has no effect. [`Proxy`]
//! serves HTTP, CONNECT and SOCKS5 in front of a gate. It needs no authentication: each session has
//! a separate proxy.
//!
//! A gate may use an upstream proxy, [`Via`], which resolves names. Then only the proxy's own
//! address, and targets written as addresses, are judged here.
//!
//! [`Connector`] is for requests that the server itself makes for callers.

mod activity;
mod address;
mod bypass;
mod cidr;
mod connection_gate;
mod connector;
mod decision;
mod dial;
mod error;
mod explain;
mod headers;
mod host;
mod http;
mod loopback;
mod page;
mod policy;
mod proxy;
mod resolve;
mod rule;
mod socks;
mod target;
mod tunnel;
mod upstream;
mod via;

pub use bypass::Bypass;
pub use cidr::Cidr;
pub use connection_gate::{ConnectionGate, Dialled, ProxyLimits};
pub use connector::{ConnectError, Connection, Connector, Duplex, authority, path};
pub use decision::{Decision, Failure, Scheme, Verdict};
pub use error::EgressError;
pub use explain::{Explanation, Judged, explain};
pub use host::Host;
pub use loopback::dial_loopback;
pub use policy::{AllowReason, MACHINE_NAME, Policy};
pub use proxy::{ByteStream, Incoming, Proxy};
pub use resolve::{Resolve, SystemResolver};
pub use rule::Rule;
pub use target::Target;
pub use via::{Via, ViaError};
