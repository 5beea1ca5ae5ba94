//! Commands and terminals in sessions.

use helmdeck_wire::{
    Scope,
    exec::{Exec, ExecState},
};
use schemars::JsonSchema as _;

use crate::{
    operation::{Operation, description, get},
    routes::{desktop, exec},
    tool::{Nature, json_tool, tool},
};

/// Description of the flag `stream`.
const STREAM: &str = "Stream the output as server-sent events: `stdout` and `stderr` with \
    `{\"text\": …}`, and `exit` with the result.";

/// Commands and terminals.
pub fn operations() -> Vec<Operation> {
    let works = Nature { open_world: true, ..Nature::default().in_sandbox() };
    vec![
        tool("session.exec", exec::exec)
            .doc(description(Exec::json_schema))
            .scope(Scope::SESSIONS_ACT)
            .nature(works)
            .of_session()
            .flag("stream", STREAM, false)
            .returns::<ExecState>()
            .post("/api/v1/sessions/{id}/exec", "exec")
            .in_query(&["stream"]),
        json_tool("session.list_execs", exec::list_execs)
            .doc(
                "List the commands of the session: running ones, and the last 32 that ended within \
                 ten minutes. Includes commands that an earlier server started.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(works.reads())
            .of_session()
            .get("/api/v1/sessions/{id}/exec", "list_execs"),
        tool("session.show_exec", exec::show_exec)
            .doc(
                "Show the state of a command and its output so far. `wait_s` waits for its end; \
                 `stream=true` streams its output from the beginning. Disconnecting does not end \
                 it.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(works.reads())
            .of_session()
            .flag("stream", STREAM, false)
            .returns::<ExecState>()
            .get("/api/v1/sessions/{id}/exec/{exec_id}", "show_exec"),
        tool("session.kill_exec", exec::kill_exec)
            .doc(
                "Kill a command and everything it started, including programs left in the \
                 background after it ended. Returns when all of them are gone.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(works.destroys())
            .of_session()
            .delete("/api/v1/sessions/{id}/exec/{exec_id}", "kill_exec"),
        get("/api/v1/sessions/{id}/terminal", desktop::ACT, "terminal", exec::open_terminal)
            .doc(TERMINAL)
            .query::<exec::TerminalQuery>()
            .upgrades(),
    ]
}

const TERMINAL: &str = "Open an interactive terminal in the session over a WebSocket, with a token or \
    the page's cookie.\n\n\
    Binary messages are the terminal's bytes, both ways. Text messages are JSON. The client sends \
    `{\"type\": \"resize\", \"cols\": 120, \"rows\": 40}`. The server sends `{\"type\": \"exit\", \
    \"exit_code\": 0, \"signal\": null}` when the program has ended, and then closes with code 1000. It \
    sends `{\"type\": \"error\", \"error\": code, \"message\": text}` when something was refused: input \
    of others while a person has control is dropped with `control_held`.\n\n\
    Programs wait for a client that reads slowly. When the client disconnects, the terminal's programs \
    get SIGHUP, and those that remain are killed.";
