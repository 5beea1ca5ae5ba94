//! Sessions: life cycle, control, files and network.

use helmdeck_wire::{Scope, session::Session};
use http::StatusCode;

use crate::{
    operation::{Media, Operation, Output, get},
    routes::{
        control as drive, desktop, egress, ended, files as file, forwards, private, sessions, trace,
    },
    tool::{Nature, json_tool, tool},
};

/// Creating, listing and ending sessions.
pub fn lifecycle() -> Vec<Operation> {
    let looks = Nature::default().reads();
    vec![
        tool("session.create", sessions::create_session)
            .doc(
                "Create a session. Returns when it is ready, or at once with `wait=false`. Over MCP, it \
                 becomes the current session.",
            )
            .scope(Scope::SESSIONS_WRITE)
            .nature(Nature::default().on_either_surface())
            .prepare(sessions::flatten, sessions::create_schema)
            .flag("wait", "Whether to return only when the session is ready.", true)
            .returns::<Session>()
            .post("/api/v1/sessions", "create_session")
            .in_query(&["wait"])
            .optional_body()
            .status(StatusCode::CREATED),
        json_tool("session.list", sessions::list_sessions)
            .doc("List the sessions that the caller may see, oldest first; or ended sessions.")
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .get("/api/v1/sessions", "list_sessions"),
        json_tool("session.show", sessions::show_session)
            .doc("One session.")
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .of_session()
            .get("/api/v1/sessions/{id}", "show_session"),
        tool("session.end", sessions::end_session)
            .doc(
                "End a session. Succeeds if it has already ended; 404 if it never belonged to the \
                 caller.",
            )
            .scope(Scope::SESSIONS_WRITE)
            .nature(Nature::default().destroys())
            .of_session()
            .delete("/api/v1/sessions/{id}", "end_session"),
        tool("session.logs", sessions::session_logs)
            .doc("The log of the session's programs, newest last.")
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .of_session()
            .output(Output::Text("text/plain"))
            .get("/api/v1/sessions/{id}/logs", "session_logs"),
        json_tool("session.trace", trace::trace)
            .doc(
                "What happened in the session, in one order: actions with their effects, windows, \
                 focus, navigations, tabs, dialogs and downloads. The last 2000 entries are kept \
                 while the session runs.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .of_session()
            .get("/api/v1/sessions/{id}/trace", "session_trace"),
        tool("session.trace_picture", trace::picture)
            .doc("A small picture of the place of an action, before or after it.")
            .scope(Scope::SESSIONS_ACT)
            .nature(looks)
            .of_session()
            .output(Output::Bytes(Media::JPEG))
            .get("/api/v1/sessions/{id}/trace/{picture}", "trace_picture"),
    ]
}

/// Postponing the end of a session, and ended sessions.
pub fn endings() -> Vec<Operation> {
    let looks = Nature::default().reads();
    vec![
        json_tool("session.keep_alive", ended::keep_alive)
            .doc("Postpone the idle end of a session, as any other call does.")
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().idempotent())
            .of_session()
            .post("/api/v1/sessions/{id}/keep-alive", "keep_alive"),
        json_tool("session.show_ended", ended::show)
            .doc("The last description of an ended session.")
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .of_session()
            .get("/api/v1/sessions/{id}/ended", "show_ended"),
        tool("session.last_picture", ended::last_picture)
            .doc("The last picture of an ended session, if there is one.")
            .scope(Scope::SESSIONS_ACT)
            .nature(looks)
            .of_session()
            .output(Output::Bytes(Media::JPEG))
            .get("/api/v1/sessions/{id}/last-picture", "last_picture"),
    ]
}

/// Control and private sign-in.
pub fn control() -> Vec<Operation> {
    vec![
        json_tool("control.show", drive::show_control)
            .doc("Show who has control of the session.")
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().reads())
            .of_session()
            .get("/api/v1/sessions/{id}/control", "show_control"),
        json_tool("control.take", drive::take_control)
            .doc(
                "Take control: actions of agents fail with `control_taken` and \
                 `control_held` until it is released.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().idempotent())
            .of_session()
            .post("/api/v1/sessions/{id}/control/take", "take_control")
            .optional_body(),
        json_tool("control.release", drive::release_control)
            .doc("Release control to agents, with an optional message.")
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().idempotent())
            .of_session()
            .post("/api/v1/sessions/{id}/control/release", "release_control")
            .optional_body(),
        json_tool("private_sign_in.start", private::start)
            .doc(
                "Sign in privately, for a person who has control: the page opens in a separate \
                 browser that no agent, program or debugging client can reach. The person's \
                 `cdp-stream` shows it and accepts their input; other viewers see `private`, and \
                 `browser/…` calls of others fail with `private` until it ends.",
            )
            .scope(Scope::SESSIONS_ACT)
            .of_session()
            .post("/api/v1/sessions/{id}/private-sign-in", "start_private_sign_in"),
        json_tool("private_sign_in.end", private::end)
            .doc(
                "End a private sign-in. The agent's tab goes to the page where the person was, \
                 with the cookies and storage of the sites they visited; with `discard`, it does \
                 not change. Releasing control ends it, too; losing control ends it and discards \
                 the page.",
            )
            .scope(Scope::SESSIONS_ACT)
            .of_session()
            .delete("/api/v1/sessions/{id}/private-sign-in", "end_private_sign_in"),
    ]
}

/// File transfers.
pub fn files() -> Vec<Operation> {
    let works = Nature::default().in_sandbox();
    vec![
        json_tool("file.list", file::list_files)
            .doc("List a folder of the session's home.")
            .scope(Scope::SESSIONS_ACT)
            .nature(works.reads())
            .of_session()
            .get("/api/v1/sessions/{id}/files", "list_files"),
        tool("file.read", file::read_file)
            .doc("Download a file of the session's home; with `Range: bytes=`, a part of it (206).")
            .scope(Scope::SESSIONS_ACT)
            .nature(works.reads())
            .of_session()
            .output(Output::Bytes(Media::FILE))
            .get("/api/v1/sessions/{id}/files/{*path}", "read_file")
            .hidden(&["range"]),
        json_tool("file.write", file::write_file)
            .doc(
                "Upload a file to the session's home, atomically: `curl -T`. Missing \
                 folders are created.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(works.idempotent())
            .of_session()
            .takes_bytes()
            .put("/api/v1/sessions/{id}/files/{*path}", "write_file")
            .hidden(&["content", "content_base64"])
            .status(StatusCode::CREATED),
    ]
}

/// Forwarded ports and egress.
pub fn network() -> Vec<Operation> {
    let works = Nature::default().in_sandbox();
    vec![
        json_tool("forward.list", forwards::list_forwards)
            .doc("List the forwarded ports of the session.")
            .scope(Scope::SESSIONS_READ)
            .nature(works.reads())
            .of_session()
            .get("/api/v1/sessions/{id}/forwards", "list_forwards"),
        json_tool("forward.add", forwards::add_forward)
            .doc(
                "Forward a port of the server's machine: with `localhost:5173`, the session's \
                 browser and programs reach a development server at `http://localhost:5173`. \
                 Requires the admin scope or a port in HELMDECK_FORWARD_ALLOW.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(works)
            .of_session()
            .post("/api/v1/sessions/{id}/forwards", "add_forward")
            .status(StatusCode::CREATED),
        tool("forward.remove", forwards::remove_forward)
            .doc("Close a forwarded port and its connections, by its number inside the session.")
            .scope(Scope::SESSIONS_ACT)
            .nature(works.destroys())
            .of_session()
            .delete("/api/v1/sessions/{id}/forwards/{port}", "remove_forward"),
        get(
            "/api/v1/sessions/{id}/forwards/{port}/client",
            desktop::ACT,
            "forward_from_client",
            forwards::from_client,
        )
        .doc(
            "Forward a port of the client's machine while this WebSocket is open. Used by \
             `helmdeck forward`. Requires a bearer token.",
        )
        .query::<forwards::ClientQuery>()
        .upgrades(),
        get(
            "/api/v1/sessions/{id}/forwards/{port}/client/{connection}",
            desktop::ACT,
            "bring_forwarded",
            forwards::bring,
        )
        .doc("One announced connection of a forwarded port of the client's machine.")
        .upgrades(),
        json_tool("egress.test", egress::test_egress)
            .doc(
                "Test whether a session may connect to an address, for each resolved address. No \
                 connection is made.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().reads())
            .post("/api/v1/egress/test", "test_egress"),
    ]
}
