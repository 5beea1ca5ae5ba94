//! The guest's routes.

/// `GET`: the guest's [`helmdeck_wire::guest::Hello`].
pub const HELLO: &str = "/hello";
/// `POST` [`helmdeck_wire::guest::Begin`]: starts a session. Answers at once.
pub const BEGIN: &str = "/begin";
/// `GET`: every [`helmdeck_wire::guest::Progress`] since the start, one per line, for as long as
/// the
/// guest runs. Without a reader, the guest considers itself orphaned.
pub const WATCH: &str = "/watch";
/// `GET`: the log, as text.
pub const LOG: &str = "/log";

/// `GET` the trace, as the query's [`helmdeck_wire::trace::ReadTrace`] wants it: a
/// [`helmdeck_wire::trace::TraceLog`].
pub const TRACE: &str = "/trace";
/// `GET` the small JPEG picture of the query's [`helmdeck_wire::trace::TracePicture`].
pub const TRACE_PICTURE: &str = "/trace/picture";

/// `GET` with an upgrade to [`TUNNEL_PROTOCOL`]: answered when a program opens an outgoing
/// connection;
/// then it carries that program's bytes.
pub const TUNNEL: &str = "/tunnel";
/// The protocol of [`TUNNEL`] after the upgrade.
pub const TUNNEL_PROTOCOL: &str = "helmdeck-tunnel";

/// A header of the answer to [`TUNNEL`]: the forwarded port that the program connected to; absent
/// for the proxy.
pub const FORWARDED_PORT: &str = "x-helmdeck-forwarded-port";
/// `POST` [`helmdeck_wire::guest::ForwardedPorts`]: listens on exactly these ports. Connections to
/// them
/// arrive through [`TUNNEL`].
pub const FORWARDS: &str = "/forwards";

/// `GET` with an upgrade to [`RFB_PROTOCOL`]: an RFB stream of the X server, starting with the
/// client's
/// `ClientInit`. The query names the [`helmdeck_wire::ticket::Role`]: for a viewer, the X server
/// itself
/// refuses input and hides the clipboard.
pub const RFB: &str = "/rfb";
/// The protocol of [`RFB`] after the upgrade.
pub const RFB_PROTOCOL: &str = "rfb";
/// `GET` with an upgrade to [`FRAMES_PROTOCOL`]: thumbnails of the screen, sent when it changes.
/// The
/// query is a [`helmdeck_wire::guest::PictureRequest`]; each picture is a JPEG after a big-endian length of
/// four bytes.
pub const FRAMES: &str = "/frames";
/// The protocol of [`FRAMES`] after the upgrade.
pub const FRAMES_PROTOCOL: &str = "helmdeck-frames";
/// `GET` with an upgrade to [`CDP_PROTOCOL`]: the browser's debugging protocol for one client, in
/// the
/// format of the pipe: JSON both ways, each message terminated by a NUL. The query is a
/// [`helmdeck_wire::guest::OneClient`].
pub const CDP: &str = "/cdp";
/// The protocol of [`CDP`] after the upgrade.
pub const CDP_PROTOCOL: &str = "helmdeck-cdp";
/// `GET` with an upgrade to [`CAST_PROTOCOL`]: the browser's page as pictures, and input for it.
/// The
/// query is a [`helmdeck_wire::cast::CastView`] and a [`helmdeck_wire::guest::OneClient`]; the
/// messages are those of [`crate::cast`].
pub const CAST: &str = "/cast";
/// The protocol of [`CAST`] after the upgrade.
pub const CAST_PROTOCOL: &str = "helmdeck-cast";
/// `POST` [`helmdeck_wire::guest::HandedOver`]: releases all held keys and buttons. While a person
/// has
/// control, suspends settings of debugging clients that interfere.
pub const RELEASE_ALL: &str = "/release_all";

/// `POST` [`helmdeck_wire::guest::StartPrivate`]: starts a private sign-in.
pub const PRIVATE: &str = "/private";
/// `POST` [`helmdeck_wire::guest::EndPrivate`]: ends a private sign-in; answers a
/// [`helmdeck_wire::private::PrivateEnded`].
pub const END_PRIVATE: &str = "/private/end";

/// `POST` [`helmdeck_wire::guest::LimitSites`]: limits the sites that the browser opens; answers a
/// [`helmdeck_wire::guest::RefusedSites`].
pub const SITES: &str = "/sites";

/// `POST` [`helmdeck_wire::exec::Exec`]: starts a command; answers a
/// [`helmdeck_wire::guest::ExecStarted`]. The command continues when the connection breaks. `GET`:
/// a [`helmdeck_wire::exec::ExecList`].
pub const EXECS: &str = "/execs";
/// `GET` the [`helmdeck_wire::exec::ExecState`] of the query's [`helmdeck_wire::guest::OneExec`],
/// once
/// it has ended or after the given time.
pub const EXEC: &str = "/exec";
/// `POST` [`helmdeck_wire::guest::OneExec`]: kills a command and all processes it started. Answers
/// when
/// none is left.
pub const KILL_EXEC: &str = "/exec/kill";
/// `GET` with an upgrade to [`EXEC_PROTOCOL`]: the output of a command, starting at the position in
/// the query's [`helmdeck_wire::guest::ExecOutput`] as far as it is kept, then live, then how it
/// ended. The messages are those of [`crate::exec`].
pub const EXEC_OUTPUT: &str = "/exec/output";
/// `GET` with an upgrade to [`EXEC_PROTOCOL`]: a terminal that runs the command of the query's
/// [`helmdeck_wire::guest::OpenTerminal`]. When the connection closes, it hangs up and all its
/// processes are killed. The messages are those of [`crate::exec`].
pub const TERMINAL: &str = "/terminal";
/// The protocol of [`EXEC_OUTPUT`] and [`TERMINAL`] after the upgrade.
pub const EXEC_PROTOCOL: &str = "helmdeck-exec";

/// `GET` the folder in the query's path: a [`helmdeck_wire::file::FileList`].
pub const FOLDER: &str = "/folder";
/// `GET` or `PUT` the file of the query's [`helmdeck_wire::guest::OneFile`]: its bytes, or a range.
pub const FILE: &str = "/file";
/// A header of the answer to a range request of [`FILE`]: the first byte of the range, or the
/// file's size if the range is out of bounds.
pub const FILE_FIRST: &str = "x-helmdeck-file-first";
/// Another header of that answer: the size of the whole file.
pub const FILE_SIZE: &str = "x-helmdeck-file-size";

/// `PUT` the browser's profile before [`BEGIN`]; `GET` it with the query's
/// [`helmdeck_wire::guest::SaveProfile`]. A tar archive with paths relative to the home.
pub const PROFILE: &str = "/profile";

/// `PUT` a browser extension before [`BEGIN`], with the query's
/// [`helmdeck_wire::guest::OneExtension`]: a tar archive with paths relative to its folder.
pub const EXTENSION: &str = "/extension";

/// A header of an action: [`helmdeck_wire::control::Hands`].
pub const HANDS: &str = "x-helmdeck-hands";

/// `POST` an action's JSON to `/act/<name>`.
pub fn act(name: &str) -> String {
    format!("/act/{name}")
}
