//! The RFB protocol as a relay sees it: whose messages are these, and may they pass.
//!
//! The relay stands between a viewer and the X server's RFB port. It shakes hands with the viewer
//! itself ([`Handshake`]), and every byte the viewer sends afterwards goes through a [`Gate`],
//! which lets watchers watch and only the driver drive. Nothing here reads or writes a socket, and
//! the other direction, from the X server to the viewer, needs no understanding and is not here.

mod client;
mod encodings;
mod error;
mod gate;
mod handshake;
mod held;

pub use client::{ClientMessages, Kind, MAX_BUFFERED, Message};
pub use error::RfbError;
pub use gate::{Gate, Input, Passed};
pub use handshake::{Done, GREETING, Handshake, Step};
pub use held::MAX_HELD_KEYS;
pub use helmdeck_wire::ticket::Role;
