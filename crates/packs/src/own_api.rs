//! The server's own API, for packs that call it.

use std::pin::Pin;

use helmdeck_sessions::Caller;

use crate::{HttpRequest, HttpResponse, PackResult};

/// A reply of the own API.
pub type OwnReply<'a> = Pin<Box<dyn Future<Output = PackResult<HttpResponse>> + Send + 'a>>;

/// The server's own API, called in process.
pub trait OwnApi: Send + Sync {
    /// Whether an address is the server's own.
    fn serves(&self, url: &str) -> bool;

    /// Performs a request with the rights of the caller.
    fn call(&self, caller: Caller, request: HttpRequest) -> OwnReply<'_>;
}
