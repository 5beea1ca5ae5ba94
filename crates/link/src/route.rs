//! The guest's routes.

/// `GET`: the guest's [`helmdeck_wire::guest::Hello`].
pub const HELLO: &str = "/hello";
/// `POST` [`helmdeck_wire::guest::Begin`]: becomes a session. Answers at once.
pub const BEGIN: &str = "/begin";
/// `GET`: every [`helmdeck_wire::guest::Progress`] since the beginning, one per line, for as long as
/// the guest lives. While nobody reads it, the guest considers itself alone.
pub const WATCH: &str = "/watch";
/// `GET`: the log, as text.
pub const LOG: &str = "/log";

/// `POST` an action's JSON to `/act/<name>`.
pub fn act(name: &str) -> String {
    format!("/act/{name}")
}
