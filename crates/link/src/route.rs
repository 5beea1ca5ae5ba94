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

/// A header of the answer to [`TUNNEL`]: the forwarded port that the program connected to; without
/// it, the program wants the proxy.
pub const FORWARDED_PORT: &str = "x-helmdeck-forwarded-port";
/// `POST` [`helmdeck_wire::guest::ForwardedPorts`]: listens on these ports, and no longer on others.
/// Connections to them come by [`TUNNEL`].
pub const FORWARDS: &str = "/forwards";

/// `GET` with an upgrade to [`RFB_PROTOCOL`]: the X server's picture, as RFB from the client's
/// `ClientInit` on. The query says for which [`helmdeck_wire::ticket::Role`]: the X server itself
/// keeps a viewer from sending input and from reading the clipboard.
pub const RFB: &str = "/rfb";
/// What the connection of [`RFB`] becomes.
pub const RFB_PROTOCOL: &str = "rfb";
/// `GET` with an upgrade to [`FRAMES_PROTOCOL`]: the screen as small pictures, whenever it changes.
/// The query is a [`helmdeck_wire::guest::Frames`]; each picture is a JPEG after its length as four
/// bytes, the highest first.
pub const FRAMES: &str = "/frames";
/// What the connection of [`FRAMES`] becomes.
pub const FRAMES_PROTOCOL: &str = "helmdeck-frames";
/// `GET` with an upgrade to [`CDP_PROTOCOL`]: the browser's debugging protocol for one client, as on
/// the pipe: JSON both ways, each message ended by a NUL. The query is a
/// [`helmdeck_wire::guest::OneClient`].
pub const CDP: &str = "/cdp";
/// What the connection of [`CDP`] becomes.
pub const CDP_PROTOCOL: &str = "helmdeck-cdp";
/// `GET` with an upgrade to [`CAST_PROTOCOL`]: the browser's page as pictures, and input into it. The
/// query is a [`helmdeck_wire::cast::CastView`] and a [`helmdeck_wire::guest::OneClient`]; the messages are those of [`crate::cast`].
pub const CAST: &str = "/cast";
/// What the connection of [`CAST`] becomes.
pub const CAST_PROTOCOL: &str = "helmdeck-cast";
/// `POST` [`helmdeck_wire::guest::HandedOver`]: lets go all keys and buttons that are held down, and
/// keeps what clients of the debugging protocol have set out of the way of a person who drives.
pub const RELEASE_ALL: &str = "/release_all";

/// `POST` [`helmdeck_wire::guest::StartPrivate`]: gives a person a browser for themselves.
pub const PRIVATE: &str = "/private";
/// `POST` [`helmdeck_wire::guest::EndPrivate`]: ends that; answers a
/// [`helmdeck_wire::private::PrivateEnded`].
pub const END_PRIVATE: &str = "/private/end";

/// `POST` [`helmdeck_wire::exec::Exec`]: starts a command; answers a
/// [`helmdeck_wire::guest::ExecStarted`]. It goes on when the connection breaks. `GET`: a
/// [`helmdeck_wire::exec::ExecList`].
pub const EXECS: &str = "/execs";
/// `GET` the [`helmdeck_wire::exec::ExecState`] of the query's [`helmdeck_wire::guest::OneExec`],
/// after its end or the time to wait for it.
pub const EXEC: &str = "/exec";
/// `POST` [`helmdeck_wire::guest::OneExec`]: kills a command with everything it started. Answers when
/// nothing of it is left.
pub const KILL_EXEC: &str = "/exec/kill";
/// `GET` with an upgrade to [`EXEC_PROTOCOL`]: what a command writes, from bytes of the query's
/// [`helmdeck_wire::guest::ExecOutput`] on, as far as they are kept; then what it writes as it does, and
/// how it ended. The messages are those of [`crate::exec`].
pub const EXEC_OUTPUT: &str = "/exec/output";
/// `GET` with an upgrade to [`EXEC_PROTOCOL`]: a terminal with a command of the query's
/// [`helmdeck_wire::guest::OpenTerminal`]. It is hung up, and all in it killed, with the connection. The
/// messages are those of [`crate::exec`].
pub const TERMINAL: &str = "/terminal";
/// What the connections of [`EXEC_OUTPUT`] and [`TERMINAL`] become.
pub const EXEC_PROTOCOL: &str = "helmdeck-exec";

/// `GET` a folder of the query's path: a [`helmdeck_wire::file::FileList`].
pub const FOLDER: &str = "/folder";
/// `GET` or `PUT` a file, of the query's [`helmdeck_wire::guest::OneFile`]: its bytes, or a part.
pub const FILE: &str = "/file";
/// A header of the answer to a range of [`FILE`]: the first byte of the part, or the file's size if it
/// has no such bytes.
pub const FILE_FIRST: &str = "x-helmdeck-file-first";
/// A header of the same answer: the size of the whole file.
pub const FILE_SIZE: &str = "x-helmdeck-file-size";

/// `PUT` the browser's profile, before [`BEGIN`]; `GET` it, of the query's
/// [`helmdeck_wire::guest::SaveProfile`]. A tar archive from the home on.
pub const PROFILE: &str = "/profile";

/// `PUT` an extension of the browser, of the query's [`helmdeck_wire::guest::OneExtension`], before
/// [`BEGIN`]: a tar archive from its folder on.
pub const EXTENSION: &str = "/extension";

/// A header of an action: [`helmdeck_wire::control::Hands`].
pub const HANDS: &str = "x-helmdeck-hands";

/// `POST` an action's JSON to `/act/<name>`.
pub fn act(name: &str) -> String {
    format!("/act/{name}")
}
