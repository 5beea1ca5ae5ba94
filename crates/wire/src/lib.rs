//! Types shared by server and guest: ids, actions, replies and error codes.
//!
//! Data only: no I/O, no clock, no tasks. Types that clients send are validated when they are
//! parsed.

pub mod action;
pub mod aim;
pub mod artifact;
pub mod attach;
pub mod audit;
pub mod body;
pub mod browser;
pub mod byte_range;
pub mod caller;
pub mod cast;
pub mod clipboard;
pub mod connect;
pub mod control;
pub mod egress;
pub mod error;
pub mod exec;
pub mod extension;
pub mod file;
pub mod forward;
pub mod guest;
pub mod history;
pub mod id;
pub mod job;
pub mod keyboard;
pub mod model;
mod name;
mod names;
pub mod nature;
pub mod observe;
pub mod parse;
pub mod point;
pub mod pointer;
pub mod private;
pub mod process;
pub mod profile;
pub mod proxy;
pub mod scope;
pub mod screen;
pub mod session;
pub mod settings;
pub mod site;
pub mod size;
pub mod status;
pub mod ticket;
pub mod token;
pub mod trace;
pub mod tree;
pub mod vault;
pub mod vendor_size;
pub mod verify;
pub mod webhook;
pub mod window;

pub use action::{Action, ActionCall, Done};
pub use caller::Caller;
pub use error::{ErrorBody, ErrorCode};
pub use id::SessionId;
pub use scope::Scope;
