//! The Chrome DevTools Protocol over Chromium's debugging pipe or port: calls with deadlines,
//! events, and a share of the connection for each outside client.
//!
//! [`Cdp`] is the connection. Our own code uses [`Cdp::call`] and [`EventStream`]; neither knows a
//! domain of the protocol, the caller brings the types. A [`Client`] is an outside Playwright or
//! Puppeteer: its messages are passed on almost unchanged, within its own sessions. [`Current`]
//! holds the connection to a browser that may be restarted, and to others that run beside it. Other
//! crates decide who may send what; [`ClientMessage`] shows what a message is about.

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
mod internal_pages;
mod pipe;
mod pipe_messages;
mod queue;
mod session;
mod socket;
mod tree;

pub use cdp::Cdp;
pub use client::{Client, Ended};
pub use client_message::{ClientMessage, Malformed, refusal};
pub use current::{Current, Restarting};
pub use error::CdpError;
pub use events::{Event, EventStream, Lagged};
pub use internal_pages::controls_browser;
pub use pipe::{MAX_MESSAGE, MAX_REQUEST};
pub use session::SessionId;
