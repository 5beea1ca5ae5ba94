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

/// `GET` with an upgrade to [`TUNNEL_PROTOCOL`]: answered when a program inside wants out; then the
/// connection carries that program's bytes.
pub const TUNNEL: &str = "/tunnel";
/// What the connection of [`TUNNEL`] becomes.
pub const TUNNEL_PROTOCOL: &str = "helmdeck-tunnel";

/// `POST` an action's JSON to `/act/<name>`.
pub fn act(name: &str) -> String {
    format!("/act/{name}")
}
