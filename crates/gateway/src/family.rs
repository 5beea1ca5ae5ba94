//! The four wire families, and what each can do.

use serde_json::{Value, json};

use crate::{
    Invalid, Malformed, chat,
    chat::Quirks,
    conversation::{Delta, Format, Media, Reply, Request, Role, Turn, Usage},
    gemini, json, messages, responses,
    sse::Event,
};

/// How a provider or client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Google's `generateContent`.
    Gemini,
}

/// Reads the events of a streamed answer.
pub trait Decode: Send {
    /// Reads one event.
    fn read(&mut self, event: &Event, out: &mut Vec<Delta>);
    /// The connection ended. Adds [`Delta::End`] if the answer is complete nevertheless.
    fn finish(&mut self, out: &mut Vec<Delta>);
}

/// Writes the events of a streamed answer.
pub trait Encode: Send {
    /// Writes one step.
    fn write(&mut self, delta: &Delta, out: &mut String);
}

/// What a family needs to know about a model.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The model, as its provider calls it.
    pub model: &'a str,
    /// Most tokens of its answers, if known.
    pub max_output: Option<u64>,
    /// How its provider differs.
    pub quirks: Quirks,
}

/// A part of a request that a family of providers has no words for, and that does not change what the answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsaid {
    /// JSON without a schema.
    Json,
    /// One call at a time.
    SingleCalls,
    /// Arguments that have to follow their schema.
    StrictTools,
    /// Names of documents.
    FileNames,
    /// Pictures of the model.
    OwnMedia,
}

impl Unsaid {
    /// What a client calls it.
    fn field(self, client: Family) -> &'static str {
        let (chat, responses, messages) = match self {
            Self::Json => ("response_format", "text.format", "output_config.format"),
            Self::SingleCalls => (
                "parallel_tool_calls",
                "parallel_tool_calls",
                "tool_choice.disable_parallel_tool_use",
            ),
            Self::StrictTools => ("tools.function.strict", "tools.strict", "tools.strict"),
            Self::FileNames => (
                "messages.content.file.filename",
                "input.content.filename",
                "messages.content.title",
            ),
            Self::OwnMedia => {
                ("messages.content.image_url", "input.content.image_url", "messages.content.source")
            }
        };
        match client {
            Family::Chat => chat,
            Family::Responses => responses,
            Family::Messages | Family::Gemini => messages,
        }
    }
}

impl Family {
    /// Its name in settings and listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
        }
    }

    /// The family with this name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Chat, Self::Responses, Self::Messages, Self::Gemini];
        all.into_iter().find(|family| family.as_str() == name)
    }

    /// The path of a call, below the provider's address.
    pub fn path(self, model: &str, stream: bool) -> String {
        match self {
            Self::Chat => "/chat/completions".to_owned(),
            Self::Responses => "/responses".to_owned(),
            Self::Messages => "/messages".to_owned(),
            Self::Gemini if stream => format!("/models/{model}:streamGenerateContent?alt=sse"),
            Self::Gemini => format!("/models/{model}:generateContent"),
        }
    }

    /// Reads a client's request.
    pub fn read_request(self, body: &Value) -> Result<Request, Invalid> {
        match self {
            Self::Chat => chat::request::read(body),
            Self::Responses => responses::request::read(body),
            Self::Messages => messages::request::read(body),
            Self::Gemini => Err(Invalid::new("", "requests of Gemini are not translated")),
        }
    }

    /// Writes a provider's request.
    pub fn write_request(self, request: &Request, to: Target<'_>) -> Result<Value, Invalid> {
        match self {
            Self::Chat => Ok(chat::request::write(request, to.model, to.quirks)),
            Self::Responses => responses::request::write(request, to.model),
            Self::Messages => Ok(messages::request::write(request, to.model, to.max_output)),
            Self::Gemini => gemini::request::write(request, to.model),
        }
    }

    /// Fields of a client's request that this family has no words for, as the client calls them.
    pub fn unsaid(self, request: &Request, client: Self) -> Vec<String> {
        let mut said: Vec<(Unsaid, bool)> = Vec::new();
        let media = |wanted: fn(&Turn, &Media) -> bool| {
            request.turns.iter().any(|turn| turn.media().any(|media| wanted(turn, media)))
        };
        match self {
            Self::Messages => {
                said.push((Unsaid::Json, request.format == Some(Format::Json)));
            }
            Self::Gemini => {
                let tools = &request.tools;
                let single = request.parallel_tools == Some(false) && !tools.is_empty();
                let strict = tools.iter().any(|tool| tool.strict == Some(true));
                let named = |_: &Turn, media: &Media| {
                    media.is_document() && matches!(media, Media::Data { name: Some(_), .. })
                };
                said.push((Unsaid::SingleCalls, single));
                said.push((Unsaid::StrictTools, strict));
                said.push((Unsaid::FileNames, media(named)));
            }
            Self::Chat => {
                let own = |turn: &Turn, _: &Media| turn.role == Role::Assistant;
                said.push((Unsaid::OwnMedia, media(own)));
            }
            Self::Responses => {}
        }
        let unsaid = said.into_iter().filter(|(_, asked)| *asked);
        unsaid.map(|(unsaid, _)| unsaid.field(client).to_owned()).collect()
    }

    /// Reads a provider's reply. `id` names what has no id.
    pub fn read_reply(self, body: &Value, id: &str) -> Result<Reply, Malformed> {
        match self {
            Self::Chat => chat::reply::read(body),
            Self::Responses => responses::reply::read(body),
            Self::Messages => messages::reply::read(body),
            Self::Gemini => gemini::reply::read(body, id),
        }
    }

    /// Writes a reply for a client.
    pub fn write_reply(self, reply: &Reply, created: i64) -> Value {
        match self {
            Self::Chat => chat::reply::write(reply, created),
            Self::Responses => responses::reply::write(reply, created),
            // No client speaks Gemini.
            Self::Messages | Self::Gemini => messages::reply::write(reply),
        }
    }

    /// Reads a provider's stream. `id` names what has no id.
    pub fn decoder(self, id: &str) -> Box<dyn Decode> {
        match self {
            Self::Chat => Box::new(chat::stream::Decoder::default()),
            Self::Responses => Box::new(responses::stream::Decoder::default()),
            Self::Messages => Box::new(messages::stream::Decoder::default()),
            Self::Gemini => Box::new(gemini::reply::Decoder::new(id)),
        }
    }

    /// Writes a stream for a client.
    pub fn encoder(self, created: i64, with_usage: bool) -> Box<dyn Encode> {
        match self {
            Self::Chat => Box::new(chat::stream::Encoder::new(created, with_usage)),
            Self::Responses => Box::new(responses::stream::Encoder::new(created)),
            // No client speaks Gemini.
            Self::Messages | Self::Gemini => Box::new(messages::stream::Encoder::default()),
        }
    }

    /// The usage in a whole reply, without reading the rest of it.
    pub fn usage(self, reply: &Value) -> Option<Usage> {
        let of = |name, read: fn(&Value) -> Usage| json::field(reply, name).map(read);
        match self {
            Self::Chat => of("usage", chat::usage),
            Self::Responses => of("usage", responses::usage),
            Self::Messages => of("usage", messages::usage),
            Self::Gemini => of("usageMetadata", gemini::usage),
        }
    }

    /// An error as SDKs of this family expect it.
    pub fn error(self, status: u16, code: &str, message: &str, field: Option<&str>) -> Value {
        match self {
            Self::Chat | Self::Responses => {
                let kind = match status {
                    401 => "authentication_error",
                    403 => "permission_error",
                    402 => "insufficient_quota",
                    429 => "rate_limit_error",
                    400..500 => "invalid_request_error",
                    _ => "server_error",
                };
                let error =
                    json!({ "message": message, "type": kind, "param": field, "code": code });
                json!({ "error": error })
            }
            Self::Messages => {
                let kind = match status {
                    401 => "authentication_error",
                    402 => "billing_error",
                    403 => "permission_error",
                    404 => "not_found_error",
                    413 => "request_too_large",
                    429 => "rate_limit_error",
                    400..500 => "invalid_request_error",
                    503 | 529 => "overloaded_error",
                    504 => "timeout_error",
                    _ => "api_error",
                };
                let error = json!({ "type": kind, "message": message, "code": code });
                json!({ "type": "error", "error": error })
            }
            Self::Gemini => {
                let error = json!({ "code": status, "message": message, "status": code });
                json!({ "error": error })
            }
        }
    }

    /// What a provider says in its error, and what it calls it.
    pub fn read_error(self, body: &[u8]) -> (String, String) {
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            let text = String::from_utf8_lossy(body);
            return (String::new(), text.trim().chars().take(500).collect());
        };
        // Some providers answer a list, a text, or an error without a wrapper.
        let body = body.get(0).cloned().unwrap_or(body);
        let error = json::field(&body, "error").cloned().unwrap_or(body);
        let name = |field| json::text(&error, field).map(str::to_owned);
        let kind = name("type").or_else(|| name("code")).or_else(|| name("status"));
        let message = name("message").or_else(|| error.as_str().map(str::to_owned));
        let message = message.unwrap_or_else(|| error.to_string().chars().take(500).collect());
        (kind.unwrap_or_default(), message)
    }
}
