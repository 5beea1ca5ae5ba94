//! HTTP/1.1 between server and guest over any byte stream.

mod error;
mod reply;

pub use error::LinkError;
pub use reply::Reply;
