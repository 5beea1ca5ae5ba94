//! Reaches goals on a screen with models.
//!
//! A [`Dialect`] is how a vendor's models are shown a screen and say what to do; all of them are
//! translated to and from one [`Action`]. [`run`] is the loop: look, ask, act, observe, until the goal is
//! *verified*. What a model says about its own success is never enough.

pub mod action;
pub mod clause;
pub mod conversation;
pub mod dialect;
pub mod element;
pub mod evidence;
pub mod eyes;
mod fence;
mod gateway_model;
pub mod keys;
mod model_reply;
mod prompt;
pub mod report;
pub mod request;
mod run;
pub mod scope;
mod session_eyes;
pub mod view;

pub use action::{Action, Place};
pub use dialect::{Dialect, choose};
pub use fence::Fence;
pub use gateway_model::GatewayModel;
pub use model_reply::{Call, CallId, Malformed, ModelReply, Safety};
pub use report::{Outcome, Run, Step};
pub use run::{Goal, RunLimits, run};
pub use session_eyes::SessionEyes;
pub use view::{Grid, View};
