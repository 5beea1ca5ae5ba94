//! What a client is told when the server cannot answer.

use std::fmt::Display;

use http::StatusCode;
use serde_json::{Value, json};

use super::id::Id;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const SERVER_ERROR: i64 = -32000;
/// What to do after a call whose outcome is unknown.
const LOOK: &str = "It may have been carried out: look at the session, for example at a screenshot, \
                    before you repeat it.";

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    code: i64,
    pub message: String,
}

impl Problem {
    /// The error as the answer to a request.
    pub fn answer(&self, id: Option<&Id>) -> String {
        let id = id.map_or(Value::Null, Id::value);
        let error = json!({ "code": self.code, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
    }
}

fn server_error(message: String) -> Problem {
    Problem { code: SERVER_ERROR, message }
}

/// The line is not JSON.
pub fn not_json(error: &dyn Display) -> Problem {
    let message = format!("not JSON: {error}; expected one JSON-RPC message per line");
    Problem { code: PARSE_ERROR, message }
}

/// The line is JSON, but not JSON-RPC.
pub fn not_a_message() -> Problem {
    let message = "not a JSON-RPC message: it has neither a method nor a result".to_owned();
    Problem { code: INVALID_REQUEST, message }
}

/// Another request has this id.
pub fn id_in_use() -> Problem {
    let message = "a request with this id has not been answered yet".to_owned();
    Problem { code: INVALID_REQUEST, message }
}

/// The server did not answer for too long.
pub fn unreachable(why: &str) -> Problem {
    server_error(format!(
        "the helmdeck server is unreachable: {why}. Start it, or set HELMDECK_URL to its address."
    ))
}

/// A request may have been carried out, and its answer is lost.
pub fn lost(url: &str, method: &str, why: &str) -> Problem {
    server_error(format!(
        "the connection to {url} broke during {method} ({why}), and the answer is lost. {LOOK}"
    ))
}

/// The server refused.
pub fn refused(url: &str, status: StatusCode, why: &str) -> Problem {
    let advice = "Create a token on the server's machine with `helmdeck connect` or `helmdeck token \
                  --sub NAME` and set HELMDECK_TOKEN to it";
    server_error(match status {
        StatusCode::UNAUTHORIZED => {
            format!("{url} refused the token: {why}. {advice}, or log in: helmdeck login {url}")
        }
        StatusCode::FORBIDDEN => {
            format!("{url} refused the request: {why}. If the token lacks a scope: {advice}")
        }
        StatusCode::NOT_FOUND => format!(
            "{url}/mcp does not exist: {why}. HELMDECK_URL is the address of a helmdeck server, \
             without /mcp"
        ),
        // Also what a server answers whose work was cut off when it stopped.
        _ if status.is_server_error() => format!("{url}/mcp answered {status}: {why}. {LOOK}"),
        _ => format!("{url}/mcp answered {status}: {why}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_repeats_the_id_of_the_request() {
        let answer = |id: Value| id_in_use().answer(Id::of(&id).as_ref());
        assert!(answer(json!("a")).contains(r#""id":"a""#));
        assert!(answer(json!(7)).contains(r#""id":7"#));
        assert!(answer(Value::Null).contains(r#""id":null"#));
    }

    #[test]
    fn a_call_that_the_server_cut_off_may_have_been_carried_out() {
        let url = "http://localhost:3000";
        let cut_off = refused(url, StatusCode::INTERNAL_SERVER_ERROR, "no response").message;
        assert!(cut_off.ends_with(LOOK), "{cut_off}");
        assert!(!refused(url, StatusCode::BAD_REQUEST, "no").message.contains(LOOK));
    }

    #[test]
    fn a_refused_token_is_answered_with_how_to_create_one() {
        let url = "http://localhost:3000";
        let refused = refused(url, StatusCode::UNAUTHORIZED, "it expired").message;
        assert!(refused.contains("it expired") && refused.contains("helmdeck token"), "{refused}");
    }
}
