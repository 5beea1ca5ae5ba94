//! The proxy as its clients see it: real sockets on loopback, nothing leaves the machine.
//!
//! 127.0.0.2 is the test host that the allowlist opens; every other loopback address is closed.

mod bounds;
mod connect;
mod curl;
mod denials;
mod explanations;
mod forward;
mod lifetime;
mod measure;
mod origin;
mod socks;
mod strangers;
mod world;
