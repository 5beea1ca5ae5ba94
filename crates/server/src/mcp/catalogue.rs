//! The tools as MCP clients see them.

use std::{collections::HashMap, sync::Arc};

use helmdeck_packs::ModelNeed;
use helmdeck_wire::Scope;
use rmcp::model::{JsonObject, MetaObject, Tool as McpTool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::{
    builtin,
    client::Client,
    lean_schema::lean,
    portable_schema::{brief, concise, declared, portable},
};
use crate::{
    App,
    tool::{Effect, Tool},
};

/// The nouns whose tools agents need. Tokens, settings and the sign-in of people are not among them.
const NOUNS: [&str; 12] = [
    "browser",
    "control",
    "desktop",
    "egress",
    "extension",
    "file",
    "forward",
    "job",
    "pack",
    "profile",
    "session",
    "vision",
];
/// Tools of those nouns that only people use.
const FOR_PEOPLE: [&str; 3] = ["control.take", "session.set_action_mode", "vision.answer"];
/// Prefixes that some clients put before the names of our tools.
const PREFIX: &str = "helmdeck__";
/// Names without a noun that agents know from elsewhere, and whose noun is that of the desktop.
const WITHOUT_NOUN: [&str; 4] =
    ["assert_element_focused", "assert_text_visible", "await_visual_change", "compare_screenshots"];
/// The argument that names a session.
pub const SESSION_ARGUMENT: &str = "_session_id";
/// The arguments of `session-create` that short listings show.
const BRIEF_SESSION: [&str; 5] = ["forward", "label", "mode", "profile", "start_url"];
/// Options of actions that short listings leave out.
const RARE_ARGUMENTS: [&str; 2] = ["expect", "hit"];
/// Options that every pack has and listings leave out, except of `pack-start`.
const PACK_OPTIONS: [&str; 3] = ["wait_s", "webhook_secret", "webhook_url"];
/// Fields that every reply of a pack can have and listings leave out.
const PACK_REPLY: [&str; 3] = ["age_s", "artifacts", "cached"];
/// Streams of events mean nothing to MCP clients, which get progress instead, and the door itself
/// chooses how large observed pictures are.
const HIDDEN_ARGUMENTS: [&str; 3] = ["stream", "idempotency_key", "observe_for"];

/// Every tool of the MCP door, in the order it is listed.
pub struct Catalogue {
    entries: Vec<Arc<Entry>>,
    by_name: HashMap<String, Arc<Entry>>,
}

/// A tool of the table, as it is listed.
pub struct Entry {
    pub tool: Arc<Tool>,
    /// What clients may send, with every limit and option.
    pub input_schema: JsonObject,
    /// With the structure of its answer.
    whole: McpTool,
    /// Without, and with fewer words.
    short: McpTool,
}

/// The MCP name of a tool: `desktop-click` for `desktop.click`.
pub fn mcp_name(name: &str) -> String {
    name.replace('.', "-")
}

/// Names that mean the same tool are equal after this.
fn normalised(name: &str) -> String {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    name.replace(['.', '_'], "-").to_ascii_lowercase()
}

/// Whether a name, in any of its spellings, means this tool.
pub fn is_named(tool: &str, name: &str) -> bool {
    normalised(tool) == normalised(name)
}

impl Catalogue {
    /// The catalogue of a server.
    pub fn of(app: &App) -> Arc<Self> {
        if let Some(catalogue) = &*app.mcp.catalogue.read() {
            return catalogue.clone();
        }
        let new = Arc::new(Self::new(&app.tools()));
        app.mcp.catalogue.write().get_or_insert(new).clone()
    }

    /// The catalogue of these tools.
    pub fn new(tools: &[Arc<Tool>]) -> Self {
        let entries =
            tools.iter().filter(|tool| is_offered(tool)).map(|tool| Arc::new(Entry::new(tool)));
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by(|one, other| one.tool.name.cmp(&other.tool.name));
        let named = |entry: &Arc<Entry>| (normalised(&entry.tool.name), entry.clone());
        let mut by_name: HashMap<_, _> = entries.iter().map(named).collect();
        for name in WITHOUT_NOUN {
            let meant = by_name.get(&normalised(&format!("desktop.{name}"))).cloned();
            by_name.extend(meant.map(|entry| (normalised(name), entry)));
        }
        Self { entries, by_name }
    }

    /// The tools that a profile lists and the client may call.
    pub fn listed(&self, client: &Client) -> Vec<McpTool> {
        let offered = self.available(client).filter(|entry| client.profile.lists(&entry.tool));
        let tools = offered.map(|entry| match client.profile.lists_output_schemas() {
            true => entry.whole.clone(),
            false => entry.short.clone(),
        });
        tools.chain(builtin::tools(client.profile)).collect()
    }

    /// Every tool.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter()
    }

    /// The tools that the client may call and that can run.
    pub fn available(&self, client: &Client) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter().filter(|entry| entry.unavailable(client).is_none())
    }

    /// The tool with this name, in any of its spellings.
    pub fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(&normalised(name))
    }

    /// The name that is most like one that is unknown.
    pub fn nearest(&self, name: &str) -> Option<String> {
        let wanted = normalised(name);
        let names = self.entries.iter().map(|entry| mcp_name(&entry.tool.name));
        let names = names.chain(builtin::NAMES.iter().map(|name| (*name).to_owned()));
        let scored = names.map(|name| (strsim::jaro_winkler(&wanted, &normalised(&name)), name));
        scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|it| it.1)
    }
}

/// Whether a tool is for agents.
pub fn is_offered(tool: &Tool) -> bool {
    let noun = tool.name.split('.').next().unwrap_or_default();
    (NOUNS.contains(&noun) || tool.pack.is_some()) && !FOR_PEOPLE.contains(&tool.name.as_str())
}

impl Entry {
    fn new(tool: &Arc<Tool>) -> Self {
        let listed = |doc, schema| {
            let mut listed = McpTool::new(mcp_name(&tool.name), doc, Arc::new(declared(schema)));
            listed.title = Some(tool.title.clone());
            listed.meta = environment(tool);
            listed
        };
        let input_schema = input_schema(tool);
        let schema = concise(without_options(tool, input_schema.clone()));
        let short =
            listed(summary(tool), brief(shown(tool, schema.clone()))).with_annotations(hints(tool));
        let mut whole = listed(description(tool), schema).with_annotations(annotations(tool));
        whole.output_schema = output_schema(tool).map(Arc::new);
        Self { tool: tool.clone(), input_schema, whole, short }
    }

    /// The listing with every schema.
    pub fn whole(&self) -> &McpTool {
        &self.whole
    }

    /// The listing with few words.
    pub fn short(&self) -> &McpTool {
        &self.short
    }

    /// Why a client cannot call it.
    pub fn unavailable(&self, client: &Client) -> Option<String> {
        let tool = &self.tool;
        if !client.caller.may(tool.scope) {
            return Some(format!("the token lacks the scope {}", tool.scope));
        }
        let pack = tool.pack.as_ref();
        let of_pack = pack.is_some_and(|pack| pack.needs.model != ModelNeed::None);
        let needs_model = of_pack || tool.needs_model;
        if needs_model && !client.caller.may(Scope::MODELS_USE) {
            return Some(format!("the token lacks the scope {}", Scope::MODELS_USE));
        }
        let unavailable = pack.and_then(|pack| pack.unavailable());
        unavailable.or_else(|| client.no_models.clone().filter(|_| needs_model))
    }
}

/// What a tool does, and how and where it works.
fn description(tool: &Tool) -> String {
    with_whereabouts(&tool.doc, tool)
}

/// The first paragraph of the description, and how and where it works.
fn summary(tool: &Tool) -> String {
    with_whereabouts(tool.doc.split("\n\n").next().unwrap_or_default(), tool)
}

fn with_whereabouts(text: &str, tool: &Tool) -> String {
    let place = tool.nature.whereabouts();
    if text.ends_with(place) { text.to_owned() } else { format!("{text}{place}") }
}

/// The label of what a model works with.
fn environment(tool: &Tool) -> Option<MetaObject> {
    let name = tool.nature.environment()?;
    Some(MetaObject(Map::from_iter([("environment".to_owned(), json!(name))])))
}

/// The arguments that short listings show.
fn shown(tool: &Tool, mut schema: JsonObject) -> JsonObject {
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.retain(|name, _| {
            let rare = tool.name == "session.create" && !BRIEF_SESSION.contains(&name.as_str());
            !rare && name != SESSION_ARGUMENT && !RARE_ARGUMENTS.contains(&name.as_str())
        });
    }
    schema
}

/// The arguments of a pack without the options of every pack.
fn without_options(tool: &Tool, mut schema: JsonObject) -> JsonObject {
    if let Some(Value::Object(fields)) = schema.get_mut("properties")
        && tool.pack.is_some()
    {
        fields.retain(|name, _| !PACK_OPTIONS.contains(&name.as_str()));
    }
    schema
}

/// All hints for clients that differ from the protocol's defaults. Of a tool that only reads, it does not
/// matter whether it destroys or can be repeated.
fn annotations(tool: &Tool) -> ToolAnnotations {
    let nature = tool.nature;
    let mut hints = hints(tool);
    hints.open_world_hint = (!nature.open_world).then_some(false);
    let repeatable = nature.idempotent && nature.effect != Effect::ReadOnly;
    hints.idempotent_hint = repeatable.then_some(true);
    hints
}

/// The hints by which clients decide whether to ask people. Without them, a tool counts as destructive.
fn hints(tool: &Tool) -> ToolAnnotations {
    match tool.nature.effect {
        Effect::ReadOnly => ToolAnnotations::new().read_only(true),
        _ => ToolAnnotations::new().read_only(false).destructive(tool.nature.destructive),
    }
}

/// What a client may send: the tool's own fields, and which session is meant.
fn input_schema(tool: &Tool) -> JsonObject {
    let whole = tool.schema().map(|schema| schema.value().clone()).unwrap_or_default();
    let mut schema = portable(&whole);
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.retain(|name, _| name != "session_id" && !HIDDEN_ARGUMENTS.contains(&name.as_str()));
        if takes_session(tool) {
            fields.insert(SESSION_ARGUMENT.to_owned(), session_argument());
        }
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name != "session_id");
    }
    if schema.get("required").is_some_and(|required| *required == json!([])) {
        schema.remove("required");
    }
    schema
}

/// Whether a call may be for a session: tools of one, and tools with a field for one.
pub fn takes_session(tool: &Tool) -> bool {
    tool.of_session || tool.schema().is_ok_and(|schema| schema.field("session_id").is_some())
}

fn session_argument() -> Value {
    json!({ "type": "string", "description": "Another session." })
}

/// The structure of a success. Answers that are no object stand in `result`.
fn output_schema(tool: &Tool) -> Option<Map<String, Value>> {
    let mut schema = Value::clone(&*tool.output_schema()?);
    if schema.get("type") != Some(&json!("object")) {
        schema = json!({ "type": "object", "properties": { "result": schema } });
    }
    if let Some(Value::Object(fields)) = schema.get_mut("properties")
        && tool.pack.is_some()
    {
        fields.retain(|name, _| !PACK_REPLY.contains(&name.as_str()));
    }
    let mut schema = schema.as_object().map(lean)?;
    // Fields of the door itself may stand beside the tool's own.
    schema.remove("additionalProperties");
    Some(schema)
}
