//! The Chrome DevTools Protocol over Chromium's debugging pipe or port: calls with deadlines, events,
//! and a share of the one connection for each client from outside.
//!
//! [`Cdp`] is the connection. What our own code asks is a [`Cdp::call`] and what it hears an
//! [`EventStream`]; both know no domain of the protocol, the caller brings the types. A [`Client`]
//! is a Playwright or Puppeteer from outside: its messages are passed on almost as they are, within
//! a session of its own. [`Current`] holds the connections to a browser that may be started again, and
//! to others that are there beside it for a while.
//! Who may send what is decided elsewhere; [`Peek`] shows what a message is about.

mod address;
mod board;
mod cdp;
mod client;
mod contexts;
mod current;
mod envelope;
mod error;
mod events;
mod frames;
mod handover;
mod peek;
mod pipe;
mod queue;
mod session;
mod socket;
mod tree;

pub use address::controls_browser;
pub use cdp::Cdp;
pub use client::{Client, Ended};
pub use current::{Absence, Current};
pub use error::CdpError;
pub use events::{Event, EventStream, Lagged};
pub use peek::{Malformed, Peek, refusal};
pub use pipe::{MAX_MESSAGE, MAX_REQUEST};
pub use session::SessionId;
