//! The tools as MCP clients see them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as McpTool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::{
    builtin,
    client::Client,
    formats::remove_sizes,
    portable_schema::{brief, portable},
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
/// Options of packs that short listings leave out.
const RARE_OPTIONS: [&str; 2] = ["webhook_url", "webhook_secret"];
/// Streams of events mean nothing to MCP clients, which get progress instead.
const HIDDEN_ARGUMENTS: [&str; 2] = ["stream", "idempotency_key"];

/// Every tool of the MCP door, in the order it is listed.
pub struct Catalogue {
    entries: Vec<Arc<Entry>>,
}

/// A tool of the table, as it is listed.
pub struct Entry {
    pub tool: Arc<Tool>,
    /// With the schema of its answer.
    whole: McpTool,
    /// Without.
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
        Self { entries }
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

    /// The tools that the client may call.
    pub fn available(&self, client: &Client) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter().filter(|entry| client.caller.may(entry.tool.scope))
    }

    /// The tool with this name, in any of its spellings.
    pub fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        let wanted = normalised(name);
        self.entries.iter().find(|entry| normalised(&entry.tool.name) == wanted)
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
        let schema = input_schema(tool);
        let short = listed(summary(tool), brief(shown(tool, schema.clone())));
        let mut whole = listed(description(tool), schema)
            .with_title(tool.title.clone())
            .with_annotations(annotations(tool));
        whole.output_schema = output_schema(tool).map(Arc::new);
        Self { tool: tool.clone(), whole, short }
    }

    /// The listing with every schema.
    pub fn whole(&self) -> &McpTool {
        &self.whole
    }
}

/// What a tool does, and where people can see it.
fn description(tool: &Tool) -> String {
    match tool.nature.substrate {
        Substrate::Sandbox => format!("{}{}", tool.doc, tool.nature.whereabouts()),
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
            !rare && name != SESSION_ARGUMENT && !RARE_OPTIONS.contains(&name.as_str())
        });
    }
    schema
}

fn annotations(tool: &Tool) -> ToolAnnotations {
    let nature = tool.nature;
    let read_only = nature.effect == Effect::ReadOnly;
    ToolAnnotations::with_title(tool.title.clone())
        .read_only(read_only)
        .destructive(nature.destructive)
        .idempotent(nature.idempotent)
        .open_world(nature.open_world)
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
    json!({ "type": "string", "description": "A session other than the current one." })
}

/// What a success looks like. Answers that are no object stand in `result`.
fn output_schema(tool: &Tool) -> Option<Map<String, Value>> {
    let shared = tool.output_schema()?;
    let mut schema = Value::clone(&shared);
    remove_sizes(&mut schema);
    let mut object = match schema {
        Value::Object(object) if object.get("type") == Some(&json!("object")) => object,
        other => {
            let mut object = Map::new();
            object.insert("type".to_owned(), json!("object"));
            object.insert("properties".to_owned(), json!({ "result": other }));
            object
        }
    };
    // Fields of the door itself may stand beside the tool's own.
    object.remove("additionalProperties");
    Some(object)
}
