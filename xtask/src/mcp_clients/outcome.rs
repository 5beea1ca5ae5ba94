//! What became of a client.

use super::Transport;

/// One line of the table.
pub struct Outcome {
    pub client: &'static str,
    pub version: &'static str,
    pub transport: Transport,
    /// The negotiated protocol version, where the client tells.
    pub protocol: String,
    pub result: Result<String, String>,
    pub skipped: bool,
}

impl Outcome {
    /// Why it failed.
    pub fn failure(&self) -> Option<&str> {
        self.result.as_ref().err().filter(|_| !self.skipped).map(String::as_str)
    }
}

/// Prints the table as Markdown.
pub fn print(outcomes: &[Outcome]) {
    println!(
        "| client | version | transport | protocol | result | first failure, or what was done |"
    );
    println!("|---|---|---|---|---|---|");
    for outcome in outcomes {
        let result = match (&outcome.result, outcome.skipped) {
            (Ok(_), _) => "passed",
            (Err(_), true) => "skipped",
            (Err(_), false) => "FAILED",
        };
        let (Ok(note) | Err(note)) = &outcome.result;
        println!(
            "| {} | {} | {} | {} | {result} | {} |",
            outcome.client,
            outcome.version,
            outcome.transport.name(),
            outcome.protocol,
            note.replace('|', "\\|"),
        );
    }
}
