//! The only way out of a sandbox: which addresses may be dialled, and the proxy that dials them.
//!
//! [`Policy`] decides, without I/O. [`Gate`] resolves a name once, asks the policy about every
//! address, and dials one that passed; nothing resolves again after that, so a name that changes
//! its answer gains nothing. [`Proxy`] speaks HTTP, CONNECT and SOCKS5 with what comes in, in front
//! of a gate: where a connection comes from says whose it is, no other proof is asked for.
//!
//! A gate may leave by another proxy, [`Via`]. That one resolves names, so their addresses are not
//! judged here: only the proxy's own address, and targets that are written as addresses.

mod activity;
mod address;
mod bypass;
mod cidr;
mod decision;
mod dial;
mod error;
mod explain;
mod gate;
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
pub use decision::{Decision, Failure, Scheme, Verdict};
pub use error::EgressError;
pub use explain::{Explanation, Judged, explain};
pub use gate::{Dialled, Gate, Limits};
pub use host::Host;
pub use loopback::dial_loopback;
pub use policy::{Ground, MACHINE_NAME, Policy};
pub use proxy::{ByteStream, Incoming, Proxy};
pub use resolve::{Resolve, SystemResolver};
pub use rule::Rule;
pub use target::Target;
pub use via::{Via, ViaError};
