//! Sessions: ownership, start, life and end.
//!
//! This crate knows neither HTTP nor X11. Sandboxes come from a [`helmdeck_runtime::Runtime`], and
//! actions go through a [`helmdeck_link`].

mod action_mode;
mod agent_status;
mod attached;
mod audit;
mod cast;
mod cdp;
mod clock;
mod control;
mod control_lease;
mod description;
mod driver;
mod egress;
mod ends;
mod error;
mod events;
mod exec;
mod extensions;
mod files;
mod forwards;
mod history;
mod idle_announcement;
mod journal;
mod last_picture;

mod lifecycle;
mod locale;
mod logs;
mod private;
mod profiles;
mod proxy;
mod record;
mod registry;
mod resource_limits;
mod session;
mod spec;
mod start_url;
mod starting;
mod trace;
mod unreachable;
mod upload_body;
mod usage;
mod view;
mod vision;

pub use attached::{AttachClaim, Attachment, ToAttach};
pub use cast::CastViewer;
pub use cdp::CdpClient;
pub use clock::{Clock, ClockControl};
pub use control_lease::{ControlChange, Holder};
pub use error::SessionError;
pub use events::{Event, EventKind, Events, Listener, Lost};
pub use exec::{
    ExecEvent, ExecStream, FromTerminal, Running, Terminal, TerminalInput, TerminalOutput, Written,
};
pub use files::Download;
pub use forwards::ClientForward;
pub use helmdeck_link::{ByteStream, Outgoing, Reply, cast as cast_link};
pub use helmdeck_wire::{Caller, Scope};
pub use journal::Journal;
pub use lifecycle::Ending;
pub use registry::{Config, Sessions};
pub use resource_limits::{Ceiling, Ceilings};
pub use session::Session;
pub use starting::Starting;
pub use view::{View, Viewer};
