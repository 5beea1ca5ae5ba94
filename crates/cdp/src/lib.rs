//! The Chrome DevTools Protocol over Chromium's debugging pipe or port: calls with deadlines, events,
//! and a share of the one connection for each client from outside.
//!
//! [`Cdp`] is the connection. What our own code asks is a [`Cdp::call`] and what it hears an
//! [`EventStream`]; both know no domain of the protocol, the caller brings the types. A [`Client`]
//! is a Playwright or Puppeteer from outside: its messages are passed on almost as they are, within
//! a session of its own. [`Current`] holds the connections to a browser that may be started again, and
//! to others that are there beside it for a while.
//! Who may send what is decided elsewhere; [`ClientMessage`] shows what a message is about.

mod address;
mod cdp;
mod client;
mod client_message;
mod contexts;
mod current;
mod dispatcher;
mod envelope;
mod error;
mod events;
mod handover;
mod pipe;
mod pipe_messages;
mod queue;
mod session;
mod socket;
mod tree;

pub use address::controls_browser;
pub use cdp::Cdp;
pub use client::{Client, Ended};
pub use client_message::{ClientMessage, Malformed, refusal};
pub use current::{Absence, Current};
pub use error::CdpError;
pub use events::{Event, EventStream, Lagged};
pub use pipe::{MAX_MESSAGE, MAX_REQUEST};
pub use session::SessionId;
