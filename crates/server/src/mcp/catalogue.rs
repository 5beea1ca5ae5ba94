//! The tools as MCP clients see them.

use std::{collections::HashMap, sync::Arc};

use helmdeck_packs::ModelNeed;
use rmcp::model::{JsonObject, Tool as McpTool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::{
    builtin,
    client::Client,
    lean_schema::lean,
    portable_schema::{brief, concise, portable},
};
use crate::{
    App,
    tool::{Effect, Substrate, Tool},
};

/// The nouns whose tools agents need. Tokens, settings and the sign-in of people are not among them.
const NOUNS: [&str; 11] = [
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
];
/// Tools of those nouns that only people use.
const FOR_PEOPLE: [&str; 1] = ["control.take"];
/// Prefixes that some clients put before the names of our tools.
const PREFIX: &str = "helmdeck__";
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
/// Streams of events mean nothing to MCP clients, which get progress instead.
const HIDDEN_ARGUMENTS: [&str; 2] = ["stream", "idempotency_key"];

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
        let by_name = entries.iter().map(named).collect();
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
        let listed = |doc, schema| McpTool::new(mcp_name(&tool.name), doc, Arc::new(schema));
        let input_schema = input_schema(tool);
        let schema = concise(without_options(tool, input_schema.clone()));
        let short = listed(summary(tool), brief(shown(tool, schema.clone())));
        let mut whole = listed(description(tool), schema)
            .with_title(tool.title.clone())
            .with_annotations(annotations(tool));
        whole.output_schema = output_schema(tool).map(Arc::new);
        Self { tool: tool.clone(), input_schema, whole, short }
    }

    /// The listing with every schema.
    pub fn whole(&self) -> &McpTool {
        &self.whole
    }

    /// Why a client cannot call it.
    pub fn unavailable(&self, client: &Client) -> Option<String> {
        let tool = &self.tool;
        if !client.caller.may(tool.scope) {
            return Some(format!("the token lacks the scope {}", tool.scope));
        }
        let pack = tool.pack.as_ref()?;
        let needs_model = pack.needs.model != ModelNeed::None;
        pack.unavailable().or_else(|| client.no_models.clone().filter(|_| needs_model))
    }
}

/// What a tool does, and where people can see it.
fn description(tool: &Tool) -> String {
    let place = tool.nature.whereabouts();
    match tool.nature.substrate {
        Substrate::Sandbox if !tool.doc.ends_with(place) => format!("{}{place}", tool.doc),
        _ => tool.doc.clone(),
    }
}

/// The first paragraph of the description, and where people can see it.
fn summary(tool: &Tool) -> String {
    let whole = description(tool);
    let first = whole.split("\n\n").next().unwrap_or_default();
    let place = tool.nature.whereabouts();
    if first.ends_with(place) { first.to_owned() } else { format!("{first}{place}") }
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

/// Hints for clients. By default, a call cannot be repeated; of a tool that only reads, it does not matter.
fn annotations(tool: &Tool) -> ToolAnnotations {
    let nature = tool.nature;
    let read_only = nature.effect == Effect::ReadOnly;
    let hints = ToolAnnotations::new()
        .read_only(read_only)
        .destructive(nature.destructive)
        .open_world(nature.open_world);
    if nature.idempotent && !read_only { hints.idempotent(true) } else { hints }
}

/// What a client may send: the tool's own fields, and which session is meant.
fn input_schema(tool: &Tool) -> JsonObject {
    let whole = tool.schema().map(|schema| schema.value().clone()).unwrap_or_default();
    let mut schema = portable(&whole);
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.retain(|name, _| name != "session_id" && !HIDDEN_ARGUMENTS.contains(&name.as_str()));
        if tool.of_session {
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

fn session_argument() -> Value {
    json!({ "type": "string", "description": "Instead of the current session." })
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
