//! Why a call over the link failed.

use std::time::Duration;

use helmdeck_wire::ErrorBody;

/// A failed call.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// No connection to the guest could be made.
    #[error("the guest cannot be reached")]
    Connect(#[source] std::io::Error),
    /// The connection broke during the call.
    #[error("the connection to the guest broke")]
    Broken(#[source] hyper::Error),
    /// What was to be sent broke off.
    #[error("what was to be sent broke off")]
    BrokeOff,
    /// The guest did not answer before the deadline.
    #[error("the guest did not answer within {} s", .0.as_secs())]
    Deadline(Duration),
    /// The guest answered, and the answer is no.
    #[error("{0}")]
    Refused(ErrorBody),
    /// The guest answered something we do not understand.
    #[error("the guest's answer makes no sense: {0}")]
    Nonsense(String),
}
