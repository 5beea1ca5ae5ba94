//! Sessions: creating and ending them, who drives, their files, what they reach.

use helmdeck_wire::{Scope, session::Session};
use http::StatusCode;

use crate::{
    operation::{Media, Operation, Output, get},
    routes::{
        control as drive, desktop, egress, ended, files as file, forwards, private, sessions,
    },
    tool::{Nature, json_tool, tool},
};

/// Creating, seeing and ending sessions.
pub fn lifecycle() -> Vec<Operation> {
    let looks = Nature::default().reads();
    vec![
        tool("session.create", sessions::create_session)
            .doc("Create a session. Answers when it is ready, or at once with `wait=false`.")
            .scope(Scope::SESSIONS_WRITE)
            .prepare(sessions::flatten, sessions::create_schema)
            .flag("wait", "Answer when the session is ready; with `false`, at once.", true)
            .returns::<Session>()
            .post("/api/v1/sessions", "create_session")
            .in_query(&["wait"])
            .optional_body()
            .status(StatusCode::CREATED),
        json_tool("session.list", sessions::list_sessions)
            .doc("The sessions the caller may see, oldest first; or those that have ended.")
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
                "End a session. Succeeds for one that has ended; 404 if there never was one of the \
                 caller's.",
            )
            .scope(Scope::SESSIONS_WRITE)
            .nature(Nature::default().destroys())
            .of_session()
            .delete("/api/v1/sessions/{id}", "end_session"),
        tool("session.logs", sessions::session_logs)
            .doc("What the session's programs wrote, newest last.")
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .of_session()
            .output(Output::Text("text/plain"))
            .get("/api/v1/sessions/{id}/logs", "session_logs"),
    ]
}

/// Putting off the end of a session, and looking back.
pub fn endings() -> Vec<Operation> {
    let looks = Nature::default().reads();
    vec![
        json_tool("session.keep_alive", ended::keep_alive)
            .doc("Put off the idle end of a session, as any other call does.")
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().idempotent())
            .of_session()
            .post("/api/v1/sessions/{id}/keep-alive", "keep_alive"),
        json_tool("session.show_ended", ended::show)
            .doc("A session that has ended, as it was last; also after it is gone.")
            .scope(Scope::SESSIONS_READ)
            .nature(looks)
            .of_session()
            .get("/api/v1/sessions/{id}/ended", "show_ended"),
        tool("session.last_picture", ended::last_picture)
            .doc("How a session that has ended looked at its end, where there is a picture.")
            .scope(Scope::SESSIONS_ACT)
            .nature(looks)
            .of_session()
            .output(Output::Bytes(Media::JPEG))
            .get("/api/v1/sessions/{id}/last-picture", "last_picture"),
    ]
}

/// Who drives.
pub fn control() -> Vec<Operation> {
    vec![
        json_tool("control.show", drive::show_control)
            .doc("Who drives the session.")
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().reads())
            .of_session()
            .get("/api/v1/sessions/{id}/control", "show_control"),
        json_tool("control.take", drive::take_control)
            .doc(
                "Take control by hand: actions of agents fail with `control_taken` and \
                 `control_held` until it is released.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().idempotent())
            .of_session()
            .post("/api/v1/sessions/{id}/control/take", "take_control")
            .optional_body(),
        json_tool("control.release", drive::release_control)
            .doc("Hand control back to agents, with a message if there is something to say.")
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().idempotent())
            .of_session()
            .post("/api/v1/sessions/{id}/control/release", "release_control")
            .optional_body(),
        json_tool("private_sign_in.start", private::start)
            .doc(
                "Sign in privately, for a person who has control: the page opens in a separate \
                 browser that no agent, program or debugging client can reach. The person's \
                 `cdp-stream` shows it and takes their input; other viewers see `private`, and \
                 `browser/…` calls of others fail with `private` until it ends.",
            )
            .scope(Scope::SESSIONS_ACT)
            .of_session()
            .post("/api/v1/sessions/{id}/private-sign-in", "start_private_sign_in"),
        json_tool("private_sign_in.end", private::end)
            .doc(
                "End a private sign-in. The agent's tab goes to the page where the person was, with \
                 the cookies and storage of the sites they visited; with `discard`, nothing is \
                 handed over. Releasing control ends it, too; losing control ends it and hands \
                 nothing over.",
            )
            .scope(Scope::SESSIONS_ACT)
            .of_session()
            .delete("/api/v1/sessions/{id}/private-sign-in", "end_private_sign_in"),
    ]
}

/// Files in and out.
pub fn files() -> Vec<Operation> {
    let works = Nature::default().in_sandbox();
    vec![
        json_tool("file.list", file::list_files)
            .doc("What a folder of the session's home holds.")
            .scope(Scope::SESSIONS_ACT)
            .nature(works.reads())
            .of_session()
            .get("/api/v1/sessions/{id}/files", "list_files"),
        tool("file.read", file::read_file)
            .doc("A file of the session's home, to save; with `Range: bytes=`, one part of it (206).")
            .scope(Scope::SESSIONS_ACT)
            .nature(works.reads())
            .of_session()
            .output(Output::Bytes(Media::FILE))
            .get("/api/v1/sessions/{id}/files/{*path}", "read_file")
            .hidden(&["range"]),
        json_tool("file.write", file::write_file)
            .doc(
                "Put a file into the session's home, whole or not at all: `curl -T`. Missing \
                 folders are made.",
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

/// What sessions reach outside: forwarded ports, and the network.
pub fn network() -> Vec<Operation> {
    let works = Nature::default().in_sandbox();
    vec![
        json_tool("forward.list", forwards::list_forwards)
            .doc("The ports outside that the session opens as its own.")
            .scope(Scope::SESSIONS_READ)
            .nature(works.reads())
            .of_session()
            .get("/api/v1/sessions/{id}/forwards", "list_forwards"),
        json_tool("forward.add", forwards::add_forward)
            .doc(
                "Forward a port of the server's machine: with `localhost:5173`, the session's \
                 browser and programs reach a development server at `http://localhost:5173`. Needs \
                 the admin, or a port of HELMDECK_FORWARD_ALLOW.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(works)
            .of_session()
            .post("/api/v1/sessions/{id}/forwards", "add_forward")
            .status(StatusCode::CREATED),
        tool("forward.remove", forwards::remove_forward)
            .doc("Close a forwarded port, by its number inside the session, and its connections.")
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
            "Forward a port of the client's machine, for as long as this WebSocket is open: what \
             `helmdeck forward` connects to. By bearer token only.",
        )
        .query::<forwards::ClientQuery>()
        .upgrades(),
        get(
            "/api/v1/sessions/{id}/forwards/{port}/client/{connection}",
            desktop::ACT,
            "bring_forwarded",
            forwards::bring,
        )
        .doc("One connection of a forwarded port of the client's machine, as it was announced.")
        .upgrades(),
        json_tool("egress.test", egress::test_egress)
            .doc(
                "What a session's connection to an address would meet, address by address. Nothing \
                 is connected.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().reads())
            .post("/api/v1/egress/test", "test_egress"),
    ]
}
