//! Anthropic: the set of computer tools, and the dated tools of older models.

use helmdeck_gateway::json::{field, list, owned, text};
use serde_json::{Map, Value, json};

use super::{browser_toolset, plain};
use crate::{
    Malformed,
    action::Action,
    model_reply::{Call, CallId, ModelReply},
    view::{Grid, View},
};

/// Which tool a model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `computer_20241022`.
    Computer2024October,
    /// `computer_20250124`.
    Computer2025January,
    /// `computer_20251124`, with zoom.
    Computer2025November,
    /// `computer_toolset_20260801`.
    ComputerToolset,
    /// `browser_toolset_20260801`, for sessions without a desktop.
    BrowserToolset,
}

impl Tool {
    /// Its type in requests.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Computer2024October => "computer_20241022",
            Self::Computer2025January => "computer_20250124",
            Self::Computer2025November => "computer_20251124",
            Self::ComputerToolset => "computer_toolset_20260801",
            Self::BrowserToolset => "browser_toolset_20260801",
        }
    }

    /// The beta that it needs.
    pub fn beta(self) -> Option<&'static str> {
        match self {
            Self::Computer2024October => Some("computer-use-2024-10-22"),
            Self::Computer2025January => Some("computer-use-2025-01-24"),
            Self::Computer2025November => Some("computer-use-2025-11-24"),
            Self::ComputerToolset | Self::BrowserToolset => None,
        }
    }

    /// The name of its set, which results have to repeat.
    pub fn toolset(self) -> Option<&'static str> {
        match self {
            Self::ComputerToolset => Some("computer"),
            Self::BrowserToolset => Some("browser"),
            _ => None,
        }
    }
}

/// Declares the tool.
pub fn declare(tool: Tool, view: &View) -> Value {
    let (width, height) = view.picture;
    let dated = json!({
        "type": tool.kind(), "name": "computer",
        "display_width_px": width, "display_height_px": height,
    });
    match tool {
        Tool::Computer2024October | Tool::Computer2025January => dated,
        Tool::Computer2025November => {
            let mut declared = dated;
            if let Value::Object(fields) = &mut declared {
                fields.insert("enable_zoom".to_owned(), true.into());
            }
            declared
        }
        Tool::ComputerToolset => json!({ "type": tool.kind() }),
        Tool::BrowserToolset => browser_toolset::declare(tool.kind()),
    }
}

/// Reads a reply.
pub fn read(tool: Tool, reply: &Value, view: &View) -> Result<ModelReply, Malformed> {
    let blocks = list(reply, "content");
    let mut turn = ModelReply::default();
    let mut words = Vec::new();
    for block in blocks {
        match text(block, "type") {
            Some("text") => words.extend(text(block, "text")),
            Some("tool_use") => turn.calls.push(call(tool, block, view)),
            _ => {}
        }
    }
    turn.thought = words.join("\n").trim().to_owned();
    match (turn.calls.is_empty(), text(reply, "stop_reason")) {
        (false, _) => {}
        (true, Some("refusal")) => {
            return Err(Malformed::new("the model refused; say what is wanted in other words"));
        }
        (true, Some("max_tokens")) => {
            return Err(Malformed::new("the reply was too long: call a tool with few words"));
        }
        (true, _) if turn.thought.is_empty() => {
            return Err(Malformed::new("the reply is empty: call a tool, or say that it is done"));
        }
        (true, _) => turn.done = Some(turn.thought.clone()),
    }
    Ok(turn)
}

fn call(tool: Tool, block: &Value, view: &View) -> Call {
    let (name, empty) = (owned(block, "name"), json!({}));
    let input = field(block, "input").unwrap_or(&empty);
    let toolset = text(block, "toolset_name").map(str::to_owned);
    let wanted = tool.toolset();
    let actions = match wanted {
        // Names alone are not reserved.
        Some(set) if toolset.as_deref() != Some(set) => {
            Err(Malformed::new(format!("there is no tool {name}: use the tools of {set}")))
        }
        Some("browser") => browser_toolset::read(&name, input, view),
        Some(_) => member(&name, input, view),
        None => match text(input, "action") {
            Some(action) if name == "computer" => member(action, input, view),
            _ => Err(Malformed::new("call the tool computer, with action")),
        },
    };
    let id = CallId { id: owned(block, "id"), name, toolset };
    Call::new(id, actions.map(|it| vec![it]))
}

fn member(name: &str, input: &Value, view: &View) -> Result<Action, Malformed> {
    plain::read(name, input, view, Grid::Pixels)
}

/// Writes a call as a model would. Nothing if the tool does not have it.
pub fn write(tool: Tool, id: &str, action: &Action, view: &View) -> Option<Value> {
    if tool == Tool::BrowserToolset {
        let (name, input) = browser_toolset::write(action, view)?;
        return Some(used(id, name, Some("browser"), input));
    }
    let (name, mut input) = plain::write(action, view, Grid::Pixels)?;
    let old = tool == Tool::Computer2024October;
    let known = match name {
        "navigate" | "go_back" | "go_forward" | "done" | "ask_user" => false,
        "zoom" => matches!(tool, Tool::Computer2025November | Tool::ComputerToolset),
        "triple_click" | "left_mouse_down" | "left_mouse_up" | "scroll" | "hold_key" | "wait" => {
            !old
        }
        _ => true,
    };
    // The oldest tool acts at the pointer.
    let clicks = matches!(action, Action::Click { .. } | Action::Drag { .. });
    let placed = input.contains_key("start_coordinate")
        || (clicks && !matches!(action, Action::Drag { .. }) && input.contains_key("coordinate"));
    if !known || (old && placed) {
        return None;
    }
    if let Some(set) = tool.toolset() {
        return Some(used(id, name, Some(set), input));
    }
    input.insert("action".to_owned(), name.into());
    Some(used(id, "computer", None, input))
}

fn used(id: &str, name: &str, toolset: Option<&str>, input: Map<String, Value>) -> Value {
    let mut block = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    if let (Value::Object(fields), Some(set)) = (&mut block, toolset) {
        fields.insert("toolset_name".to_owned(), set.into());
    }
    block
}
