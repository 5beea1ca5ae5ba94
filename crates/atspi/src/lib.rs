//! Reads the accessible elements of programs from the accessibility bus (AT-SPI).
//!
//! This runs inside a nested sandbox, beside the programs, because what they send is not trusted:
//! the guest only gets lines of JSON of limited size ([`Request`], [`Answer`]). D-Bus is spoken by
//! a small client of ours ([`connection`], [`marshal`]): few methods are needed, and they are
//! called in large batches.

mod connection;
mod details;
mod focus;
mod marshal;
mod message;
mod reader;
mod vocabulary;
mod walk;

use std::io::{self, BufRead, Write};

pub use message::{Answer, Node, Program, Request};
pub use vocabulary::{State, role, roles, states};

/// Answers requests, one per line, until the input ends.
pub fn serve(requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut reader = reader::Reader::default();
    for line in requests.lines() {
        let answer = match serde_json::from_str::<Request>(&line?) {
            Ok(request) => reader.read(&request),
            Err(error) => Answer { error: Some(error.to_string()), ..Answer::default() },
        };
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        answers.write_all(&line)?;
        answers.flush()?;
    }
    Ok(())
}
