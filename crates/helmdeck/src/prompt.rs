//! Reads secrets from a terminal without showing them, or from standard input.

use std::{
    error::Error,
    io::{self, IsTerminal, Read, Stdin, Write, stderr, stdin},
};

/// Asks for a secret, or reads all of standard input if it is not a terminal. `what` describes it.
pub fn read_secret(question: &str, what: &str) -> Result<String, Box<dyn Error>> {
    let terminal = stdin();
    let text = if terminal.is_terminal() {
        let note = if cfg!(unix) { "" } else { " (visible as you type)" };
        write!(stderr(), "{question}{note}: ")?;
        read_hidden(&terminal)?
    } else {
        read_all(terminal)?
    };
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(format!("standard input is empty: expected {what}").into()),
        text => Ok(text.to_owned()),
    }
}

fn read_all(mut input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.read_to_string(&mut text)?;
    Ok(text)
}

/// Reads a line without showing it.
#[cfg(unix)]
fn read_hidden(terminal: &Stdin) -> io::Result<String> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let before = tcgetattr(terminal)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(terminal, OptionalActions::Flush, &silent)?;
    let mut line = String::new();
    let read = terminal.read_line(&mut line);
    tcsetattr(terminal, OptionalActions::Flush, &before)?;
    writeln!(stderr())?;
    read?;
    Ok(line)
}

/// Reads a line, which the terminal shows.
#[cfg(not(unix))]
fn read_hidden(terminal: &Stdin) -> io::Result<String> {
    let mut line = String::new();
    terminal.read_line(&mut line)?;
    Ok(line)
}
