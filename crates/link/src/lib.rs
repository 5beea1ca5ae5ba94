//! HTTP/1.1 between server and guest, over any byte stream that a runtime provides.
//!
//! The server's end is [`Link`]; the guest's end is an ordinary HTTP server with the routes of
//! [`route`], so `curl --unix-socket` can replace either. No other crate reads or writes these
//! bytes.

pub mod cast;
mod client;
mod error;
pub mod exec;
mod files;
mod progress;
mod reply;
pub mod route;
mod thumbnail_stream;

pub use client::{ByteStream, Connect, Link, Outgoing, Tunnel};
pub use error::LinkError;
pub use files::{Download, STALL};
pub use progress::ProgressStream;
pub use reply::Reply;
pub use thumbnail_stream::FrameStream;
