//! The RFB protocol from a relay's view: decides which messages of a viewer may pass.
//!
//! The relay is between a viewer and the X server's RFB port. It does the handshake with the viewer
//! itself ([`Handshake`]). Every later byte of the viewer goes through an [`InputFilter`], which passes
//! input only from the viewer in control. Nothing here reads or writes a socket. The direction from
//! the X server to the viewer is copied without parsing and is not here.

mod client;
mod encodings;
mod error;
mod handshake;
mod held;
mod input_filter;

pub use client::{ClientMessages, Kind, MAX_BUFFERED, Message};
pub use error::RfbError;
pub use handshake::{Done, GREETING, Handshake, Step};
pub use held::MAX_HELD_KEYS;
pub use helmdeck_wire::ticket::Role;
pub use input_filter::{Input, InputFilter, Passed};
