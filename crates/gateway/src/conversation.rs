//! A request and a reply in words of no vendor, for translation between wire families.
//!
//! Requests that arrive in the family of their provider never become one of these.

use serde_json::{Value, json};

use crate::Invalid;

/// What a client asks of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Instructions, which come before the conversation.
    pub system: Vec<String>,
    /// The conversation. Roles alternate.
    pub turns: Vec<Turn>,
    /// Functions that the model may call.
    pub tools: Vec<Function>,
    /// Whether it has to.
    pub tool_choice: Option<ToolChoice>,
    /// Whether it may call several at once.
    pub parallel_tools: Option<bool>,
    /// The form of the answer.
    pub format: Option<Format>,
    /// Most tokens of the answer.
    pub max_tokens: Option<u64>,
    /// Randomness.
    pub temperature: Option<f64>,
    /// Randomness, by probability mass.
    pub top_p: Option<f64>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether a streamed answer ends with its usage, where that is a choice.
    pub stream_usage: bool,
    /// Fields that have no equivalent and do not change what the answer means.
    pub ignored: Vec<String>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The client, also with results of tools.
    User,
    /// The model.
    Assistant,
}

/// What one side said.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Who.
    pub role: Role,
    /// What.
    pub parts: Vec<Part>,
}

/// A piece of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// What the model thought. It is shown to clients, and never sent to another model.
    Reasoning(String),
    /// A picture or document.
    Media(Media),
    /// The model calls a function.
    Call(Call),
    /// What the function returned.
    Outcome(Outcome),
}

/// A picture or document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Media {
    /// Its bytes.
    Data {
        /// Media type.
        media_type: String,
        /// Base64.
        data: String,
        /// File name, if there is one.
        name: Option<String>,
    },
    /// Its address.
    Url(String),
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Id, which the result repeats.
    pub id: String,
    /// Name of the function.
    pub name: String,
    /// Arguments: an object.
    pub arguments: Value,
    /// What Gemini wants back with the call.
    pub signature: Option<String>,
}

/// What a function returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Id of the call.
    pub id: String,
    /// Text and media.
    pub content: Vec<Part>,
    /// Whether the function failed.
    pub is_error: bool,
}

/// A function that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// Whether arguments have to follow the schema.
    pub strict: Option<bool>,
}

/// Whether the model calls functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// At least one.
    Required,
    /// None.
    Never,
    /// This one.
    Named(String),
}

/// The form of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Format {
    /// Any JSON object.
    Json,
    /// JSON that follows a schema.
    Schema {
        /// Name of the schema.
        name: String,
        /// The schema.
        schema: Value,
        /// Whether it is enforced.
        strict: Option<bool>,
    },
}

/// A whole answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Id of the answer.
    pub id: String,
    /// The model, as its provider calls it.
    pub model: String,
    /// What the model said.
    pub parts: Vec<Part>,
    /// Why it stopped.
    pub stop: Stop,
    /// What it used.
    pub usage: Usage,
}

/// Why a model stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stop {
    /// It was done.
    #[default]
    End,
    /// It reached the limit of tokens.
    Length,
    /// It called functions.
    Calls,
    /// It wrote a stop text.
    Sequence(Option<String>),
    /// It, or a filter, refused.
    Refused,
}

/// Tokens of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Everything that was read, with cached tokens.
    pub input: u64,
    /// Part of the input that came from a cache.
    pub cached: u64,
    /// Part of the input that was written to a cache.
    pub cache_written: u64,
    /// Everything that was written, with reasoning.
    pub output: u64,
    /// Part of the output that was reasoning.
    pub reasoning: u64,
    /// What the provider says it cost, in dollars.
    pub cost: Option<f64>,
}

/// One step of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// The answer begins.
    Start {
        /// Id of the answer.
        id: String,
        /// The model, as its provider calls it.
        model: String,
    },
    /// More words.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A call begins.
    Call {
        /// Number of the call, from 0.
        number: usize,
        /// Id of the call.
        id: String,
        /// Name of the function.
        name: String,
        /// What Gemini wants back with the call.
        signature: Option<String>,
    },
    /// More of a call's arguments, as JSON text.
    Arguments {
        /// Number of the call.
        number: usize,
        /// The next piece.
        text: String,
    },
    /// What was used so far.
    Usage(Usage),
    /// The model stopped.
    Stop(Stop),
    /// The provider reported an error instead of an end.
    Failed(StreamFailure),
    /// The answer is complete.
    End,
}

/// An error in the middle of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamFailure {
    /// What the provider calls it.
    pub kind: String,
    /// What it says.
    pub message: String,
}

impl Request {
    /// Adds a part to the conversation. Parts of the same side are one turn.
    pub fn say(&mut self, role: Role, part: Part) {
        match self.turns.last_mut() {
            Some(turn) if turn.role == role => turn.parts.push(part),
            _ => self.turns.push(Turn { role, parts: vec![part] }),
        }
    }

    /// The name of the function that a call with this id called.
    pub fn called(&self, id: &str) -> Option<&str> {
        let mut parts = self.turns.iter().flat_map(|turn| &turn.parts);
        parts.find_map(|part| match part {
            Part::Call(call) if call.id == id => Some(call.name.as_str()),
            _ => None,
        })
    }
}

impl Turn {
    /// The pictures and documents of the turn itself.
    pub fn media(&self) -> impl Iterator<Item = &Media> {
        self.parts.iter().filter_map(|part| match part {
            Part::Media(media) => Some(media),
            _ => None,
        })
    }

    /// The results of functions, then the rest: vendors want results first.
    pub fn outcomes_first(&self) -> (Vec<&Outcome>, Vec<&Part>) {
        let (mut outcomes, mut rest) = (Vec::new(), Vec::new());
        for part in &self.parts {
            match part {
                Part::Outcome(outcome) => outcomes.push(outcome),
                other => rest.push(other),
            }
        }
        (outcomes, rest)
    }
}

impl Media {
    /// Media in a `data:` address, or the address.
    pub fn at(url: &str) -> Self {
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
        match data {
            Some((media_type, data)) => {
                Self::Data { media_type: media_type.to_owned(), data: data.to_owned(), name: None }
            }
            None => Self::Url(url.to_owned()),
        }
    }

    /// Its address; bytes become a `data:` address.
    pub fn url(&self) -> String {
        match self {
            Self::Data { media_type, data, .. } => format!("data:{media_type};base64,{data}"),
            Self::Url(url) => url.clone(),
        }
    }

    /// Whether it is a document rather than a picture.
    pub fn is_document(&self) -> bool {
        matches!(self, Self::Data { media_type, .. } if !media_type.starts_with("image/"))
    }
}

impl Outcome {
    /// The words of a result.
    pub fn text(&self) -> String {
        let words = self.content.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        words.collect::<Vec<_>>().join("\n")
    }

    /// The pictures and documents of a result.
    pub fn media(&self) -> impl Iterator<Item = &Media> {
        self.content.iter().filter_map(|part| match part {
            Part::Media(media) => Some(media),
            _ => None,
        })
    }
}

impl Usage {
    /// All tokens.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// Arguments in JSON text. A model may have written something else: that is kept as it is.
pub fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => value,
        _ => json!({ "invalid_json": text }),
    }
}

/// The stop texts of a request: one, or a list.
pub fn stop_texts(value: Option<Value>) -> Result<Vec<String>, Invalid> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text]),
        Some(value) => serde_json::from_value(value)
            .map_err(|_| Invalid::new("stop", "expected a string or a list of strings")),
    }
}

/// Calls make a reply end with calls, whatever the provider says.
pub fn stop_of(stop: Stop, parts: &[Part]) -> Stop {
    match stop {
        Stop::End if parts.iter().any(|part| matches!(part, Part::Call(_))) => Stop::Calls,
        other => other,
    }
}
