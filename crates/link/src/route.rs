//! The guest's routes.

/// `GET`: the guest's [`helmdeck_wire::guest::Hello`].
pub const HELLO: &str = "/hello";
/// `POST` [`helmdeck_wire::guest::Begin`]: becomes a session; answers with one
/// [`helmdeck_wire::guest::Progress`] per line for as long as the guest lives.
pub const BEGIN: &str = "/begin";
/// `GET`: the log, as text.
pub const LOG: &str = "/log";

/// `POST` an action's JSON to `/act/<name>`.
pub fn act(name: &str) -> String {
    format!("/act/{name}")
}
