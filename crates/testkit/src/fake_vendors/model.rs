//! What the models say: simple rules, the same for every vendor.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

/// What a model sees of a request.
#[derive(Default)]
pub struct Seen {
    /// The last words of the user.
    pub words: String,
    /// The last result of a tool, if nothing follows it.
    pub outcome: Option<String>,
    /// Name of the first tool.
    pub tool: Option<String>,
    /// Whether a tool has to be called.
    pub must: bool,
    /// Whether the answer has to follow a schema.
    pub schema: bool,
    /// Bytes of pictures.
    pub pictures: usize,
}

/// What a model says.
pub enum ModelAnswer {
    /// Words.
    Text(String),
    /// A call, with its arguments.
    Call(String, Value),
}

impl Seen {
    /// The answer of a vendor's model.
    pub fn answer(&self, vendor: &str) -> ModelAnswer {
        let wants = self.must || self.words.contains("weather");
        match (&self.outcome, &self.tool) {
            (Some(outcome), _) => ModelAnswer::Text(format!("The tool said: {outcome}")),
            (None, Some(tool)) if wants => {
                ModelAnswer::Call(tool.clone(), json!({ "city": "Paris", "days": 2 }))
            }
            _ if self.schema => ModelAnswer::Text(r#"{"why":"because","answer":"42"}"#.to_owned()),
            _ if self.pictures > 0 => {
                ModelAnswer::Text(format!("I see a picture of {} bytes.", self.pictures))
            }
            _ if self.words.contains("long") => ModelAnswer::Text("word ".repeat(200)),
            _ => ModelAnswer::Text(format!("Hello from {vendor}.")),
        }
    }
}

/// The pieces of a text, as streams have them.
pub fn pieces(text: &str) -> Vec<String> {
    text.split_inclusive(' ').map(str::to_owned).collect()
}

/// Width and height of a PNG in base64.
pub fn sides(data: &str) -> Option<(u32, u32)> {
    let head = BASE64_STANDARD.decode(data.get(..32)?).ok()?;
    let number = |at: usize| {
        let bytes: [u8; 4] = head.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes))
    };
    let is_png = head.starts_with(b"\x89PNG");
    is_png.then(|| Some((number(16)?, number(20)?))).flatten()
}

/// Bytes of base64 in a `data:` address.
pub fn data_size(url: &str) -> usize {
    url.split_once(";base64,").map_or(0, |(_, data)| data.len() / 4 * 3)
}
