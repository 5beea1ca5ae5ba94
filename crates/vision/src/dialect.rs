//! Dialects: how vendors' models are shown a screen, and how they say what to do.
//!
//! Every dialect declares its tool, reads replies into a [`ModelReply`], and writes actions as a model would,
//! which tests and scripted models use. All of it is pure.

pub mod anthropic;
mod browser_toolset;
mod choose;
pub mod fields;
pub mod function;
pub mod gemini;
pub mod openai;
mod plain;
pub mod ui_tars;

use helmdeck_gateway::Family;
use helmdeck_wire::vendor_size::{PictureLimits, SizeRule, Vendor};
use serde_json::{Value, json};

use crate::{
    Malformed,
    action::Action,
    model_reply::ModelReply,
    view::{Grid, View},
};
pub use choose::{choose, choose_for};

/// The side of a patch of Qwen2.5-VL, in pixels.
const PATCH: u32 = 28;

/// A dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's tools.
    Anthropic {
        /// Which one.
        tool: anthropic::Tool,
        /// Whether the model sees larger pictures.
        high: bool,
    },
    /// OpenAI's `computer`, or `computer_use_preview`.
    OpenAi {
        /// Whether it is the preview.
        preview: bool,
    },
    /// Gemini's functions.
    Gemini {
        /// Whether it is the older set.
        legacy: bool,
    },
    /// The text of UI-TARS.
    UiTars(Grid),
    /// The function of Qwen-VL.
    Qwen(Grid),
    /// A function of our own.
    Function,
    /// A JSON object as text.
    JsonText,
}

impl Dialect {
    /// The wire family of its requests.
    pub fn family(self) -> Family {
        match self {
            Self::Anthropic { .. } => Family::Messages,
            Self::OpenAi { .. } => Family::Responses,
            Self::Gemini { .. } => Family::Gemini,
            Self::UiTars(_) | Self::Qwen(_) | Self::Function | Self::JsonText => Family::Chat,
        }
    }

    /// Its name in traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic { tool, .. } => tool.kind(),
            Self::OpenAi { preview: false } => "computer",
            Self::OpenAi { preview: true } => "computer_use_preview",
            Self::Gemini { legacy: true } => "computer_use_legacy",
            Self::Gemini { legacy: false } => "computer_use",
            Self::UiTars(_) => "ui_tars",
            Self::Qwen(_) => "qwen_vl",
            Self::Function => "function",
            Self::JsonText => "json",
        }
    }

    /// The size of pictures that its models see as they are.
    pub fn size_rule(self) -> SizeRule {
        match self {
            Self::Anthropic { high: true, .. } => SizeRule::Vendor(Vendor::AnthropicHigh),
            Self::Anthropic { high: false, .. } => SizeRule::Vendor(Vendor::Anthropic),
            Self::OpenAi { .. } => SizeRule::Vendor(Vendor::Openai),
            Self::Gemini { .. } => SizeRule::Vendor(Vendor::Gemini),
            // Nothing is known of the model: a size that most see as it is.
            Self::UiTars(_) | Self::Qwen(_) | Self::Function | Self::JsonText => {
                SizeRule::Limits(PictureLimits {
                    max_edge: Some(1568),
                    max_pixels: Some(1_229_312),
                })
            }
        }
    }

    /// Tokens of a picture, as far as they are known.
    pub fn picture_tokens(self, width: u32, height: u32) -> u32 {
        match self.size_rule() {
            SizeRule::Vendor(vendor) => vendor.tokens(width, height),
            SizeRule::Limits(_) => Vendor::Openai.tokens(width, height),
        }
    }

    /// What positions refer to in a picture of this size. Qwen2.5-VL and UI-TARS-1.5 scale each side of a picture to
    /// whole patches, and count the pixels of the result.
    pub fn view(self, screen: (u32, u32), picture: (u32, u32)) -> View {
        let whole = |side: u32| {
            let patches = (f64::from(side) / f64::from(PATCH)).round_ties_even();
            (patches as u32).max(1) * PATCH
        };
        let picture = match self {
            Self::UiTars(Grid::Pixels) | Self::Qwen(Grid::Pixels) => {
                (whole(picture.0), whole(picture.1))
            }
            _ => picture,
        };
        View { screen, picture }
    }

    /// How many of the newest pictures are sent again, and how many more pile up before older ones are left out. Claude
    /// reads what was sent before at a tenth of the price, as long as the beginning stays the same.
    pub fn kept_pictures(self) -> (usize, usize) {
        match self {
            Self::Anthropic { .. } => (3, 6),
            _ => (1, 0),
        }
    }

    /// How positions are counted.
    pub fn grid(self) -> Grid {
        match self {
            Self::Gemini { .. } => Grid::Thousand,
            Self::UiTars(grid) | Self::Qwen(grid) => grid,
            _ => Grid::Pixels,
        }
    }

    /// Whether a result may show a part of the screen instead of all of it.
    pub fn takes_parts(self) -> bool {
        matches!(self, Self::Anthropic { .. } | Self::Function | Self::JsonText)
    }

    /// Declares the tool, if the dialect has one.
    pub fn declare(self, view: &View) -> Option<Value> {
        match self {
            Self::Anthropic { tool, .. } => Some(anthropic::declare(tool, view)),
            Self::OpenAi { preview } => Some(openai::declare(preview, view)),
            Self::Gemini { legacy } => Some(gemini::declare(legacy)),
            Self::Qwen(grid) => Some(function::declare_qwen(view, grid)),
            Self::Function => Some(function::declare(view)),
            Self::UiTars(_) | Self::JsonText => None,
        }
    }

    /// What the model has to be told about its answers, if there is no tool.
    pub fn instructions(self) -> Option<&'static str> {
        match self {
            Self::UiTars(_) => Some(ui_tars::ACTIONS),
            Self::JsonText => Some(function::JSON_ANSWERS),
            _ => None,
        }
    }

    /// Reads a reply of the provider.
    pub fn read(self, reply: &Value, view: &View) -> Result<ModelReply, Malformed> {
        match self {
            Self::Anthropic { tool, .. } => anthropic::read(tool, reply, view),
            Self::OpenAi { .. } => openai::read(reply, view),
            Self::Gemini { .. } => gemini::read(reply, view),
            Self::UiTars(grid) => {
                let said = function::words(function::message(reply)?);
                ui_tars::read(&said, view, grid)
            }
            Self::Qwen(grid) => function::read(reply, view, grid),
            Self::Function => function::read(reply, view, Grid::Pixels),
            Self::JsonText => {
                let said = function::words(function::message(reply)?);
                function::read_text(&said, view, Grid::Pixels)
            }
        }
    }

    /// Writes one action as a part of a reply, as a model would. Nothing if the dialect has no word for it.
    pub fn write(self, id: &str, action: &Action, view: &View) -> Option<Value> {
        match self {
            Self::Anthropic { tool, .. } => anthropic::write(tool, id, action, view),
            Self::OpenAi { preview } => {
                openai::write(preview, id, std::slice::from_ref(action), view)
            }
            Self::Gemini { legacy } => gemini::write(legacy, action, view),
            Self::UiTars(grid) => ui_tars::write(action, view, grid).map(Value::String),
            Self::Qwen(grid) => {
                let input = function::write_qwen(action, view, grid)?;
                Some(function::write_call(id, "computer_use", &input))
            }
            Self::Function => {
                let input = function::write_object(action, view, Grid::Pixels)?;
                Some(function::write_call(id, "computer", &input))
            }
            Self::JsonText => function::write_object(action, view, Grid::Pixels).map(Value::Object),
        }
    }

    /// A whole reply with these parts and words, as a provider would send it.
    pub fn reply(self, words: &str, parts: &[Value]) -> Value {
        let said = (!words.is_empty()).then_some(words);
        match self {
            Self::Anthropic { .. } => {
                let text = said.map(|words| json!({ "type": "text", "text": words }));
                let stop = if parts.is_empty() { "end_turn" } else { "tool_use" };
                let content: Vec<_> = text.into_iter().chain(parts.iter().cloned()).collect();
                json!({ "type": "message", "role": "assistant", "content": content, "stop_reason": stop })
            }
            Self::OpenAi { .. } => {
                let message = said.map(|words| {
                    let content = [json!({ "type": "output_text", "text": words })];
                    json!({ "type": "message", "role": "assistant", "content": content })
                });
                let output: Vec<_> = message.into_iter().chain(parts.iter().cloned()).collect();
                json!({ "object": "response", "status": "completed", "output": output })
            }
            Self::Gemini { .. } => {
                let text = said.map(|words| json!({ "text": words }));
                let parts: Vec<_> = text.into_iter().chain(parts.iter().cloned()).collect();
                let content = json!({ "role": "model", "parts": parts });
                json!({ "candidates": [{ "content": content, "finishReason": "STOP" }] })
            }
            Self::Qwen(_) | Self::Function => {
                let mut message = json!({ "role": "assistant", "content": said });
                if let (false, Value::Object(fields)) = (parts.is_empty(), &mut message) {
                    fields.insert("tool_calls".to_owned(), parts.into());
                }
                json!({ "choices": [{ "index": 0, "message": message }] })
            }
            Self::UiTars(_) | Self::JsonText => {
                let written = parts.iter().map(|part| match part {
                    Value::String(text) => format!("Action: {text}"),
                    other => other.to_string(),
                });
                let thought = said.map(|words| match self {
                    Self::UiTars(_) => format!("Thought: {words}"),
                    _ => words.to_owned(),
                });
                let text = thought.into_iter().chain(written).collect::<Vec<_>>().join("\n");
                json!({ "choices": [{ "index": 0, "message": { "role": "assistant", "content": text } }] })
            }
        }
    }
}
