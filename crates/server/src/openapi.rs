//! Generates the OpenAPI 3.1 document from the operation table.

mod schema;

use helmdeck_wire::ErrorBody;
use http::StatusCode;
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings, transform::Transform};
use serde_json::{Map, Value, json};

use crate::{
    Access, Operation, model_api,
    openapi::schema::without_null,
    operation::{Door, Media, Output, SchemaOf, add_property, define},
    tool::{Tool, http::Binding},
};

pub use schema::{ForClients, without_notes};

/// Descriptions of the tags, in reading order.
const TAGS: [(&str, &str); 27] = [
    ("sessions", "Create, list, watch, share and end sessions, and move files in and out."),
    ("desktop", "Drive a desktop session by pixel: mouse, keyboard, windows and programs."),
    ("browser", "Drive the session's browser by page and element."),
    ("tools", "Call any of the above by name with one JSON object."),
    ("mcp", "Connect MCP clients."),
    ("events", "Follow what happens in sessions."),
    ("wall", "Small live pictures of many sessions."),
    ("profiles", "Browser profiles that outlive sessions."),
    ("extensions", "Browser extensions that sessions can load."),
    ("artifacts", "Files that packs and callers keep for a while."),
    ("egress", "What sessions may reach on the network."),
    ("attach", "Turn an existing display or browser into a session."),
    ("auth", "Log in and out."),
    ("packs", "Typed tools that run as jobs."),
    ("jobs", "Calls of packs, and their results."),
    ("webhooks", "Deliveries of results to webhooks."),
    ("connect", "Connect MCP clients."),
    ("skill", "Instructions for agents."),
    ("tokens", "Create, list and revoke tokens."),
    ("records", "What is recorded of callers: delete it."),
    ("vault", "Credentials: add, rotate, grant and delete them, and see how they are used."),
    ("v1", "Models in the APIs of OpenAI and Anthropic, for their SDKs."),
    ("models", "Models that can be called, what was used of them, and budgets."),
    ("providers", "Providers of models, and their keys."),
    ("settings", "Settings for new sessions."),
    ("audit", "Read who did what."),
    ("server", "Health, version, metrics and the files of the web page."),
];

/// Describes every documented operation.
pub fn document(operations: &[Operation]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.transforms.push(Box::new(ForClients));
    });
    let mut generator = settings.into_generator();
    let error = generator.subschema_for::<ErrorBody>();
    let mut paths = Map::new();
    for operation in operations.iter().filter(|operation| operation.documented) {
        let described = describe(operation, &mut generator);
        let path = paths.entry(operation.path.replace("{*", "{")).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            path.insert(operation.method.as_str().to_ascii_lowercase(), described);
        }
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "helmdeck",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The computer for AI agents that people can watch.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": TAGS.map(|(name, description)| json!({ "name": name, "description": description })),
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": {
                "Error": {
                    "description": "The request failed. The body explains why and what to do next.",
                    "content": { "application/json": { "schema": error } },
                },
            },
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" },
                "cookie": {
                    "type": "apiKey", "in": "cookie", "name": "helmdeck",
                    "description": "The web page's login. Requests other than GET also need the \
                                    header `X-Helmdeck-CSRF: 1`.",
                },
                "ticket": { "type": "apiKey", "in": "query", "name": "ticket" },
                "link": {
                    "type": "apiKey", "in": "query", "name": "signature",
                    "description": "A link of `POST /api/v1/artifacts/link`, with `expires`.",
                },
            },
        },
    });
    without_notes(&mut document);
    document
}

fn describe(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let (security, scope) = match operation.access {
        Access::Open => (json!([]), None),
        Access::Needs(scope) => {
            let by_token = json!([{ "bearer": [scope.as_str()] }, { "cookie": [] }]);
            (by_token, Some(scope.as_str()))
        }
        Access::AnyToken => (json!([{ "bearer": [] }, { "cookie": [] }]), None),
        Access::Linked(scope) => {
            let scopes = json!([scope.as_str()]);
            let by = json!([{ "bearer": scopes }, { "cookie": [] }, { "link": [] }]);
            (by, Some(scope.as_str()))
        }
        Access::Watches => (json!([{ "bearer": [] }, { "cookie": [] }, { "ticket": [] }]), None),
    };
    let mut described = json!({
        "operationId": operation.id,
        "tags": [tag(&operation.path)],
        "summary": summary(&operation.doc),
        "description": operation.doc,
        "security": security,
        "parameters": parameters(operation, generator),
        "responses": responses(operation, generator),
    });
    if let Value::Object(described) = &mut described {
        if let Some(scope) = scope {
            described.insert("x-scope".to_owned(), json!(scope));
        }
        if let Some(body) = request_body(operation, generator) {
            described.insert("requestBody".to_owned(), body);
        }
    }
    described
}

/// The tag of an operation: the segment after `/api/v1`.
fn tag(path: &str) -> &str {
    if path.starts_with(model_api::PREFIX) {
        return "v1";
    }
    path.strip_prefix("/api/v1/")
        .or_else(|| path.strip_prefix("/api/"))
        .and_then(|rest| rest.split_once('/').map_or(Some(rest), |(noun, _)| Some(noun)))
        .filter(|noun| !noun.contains('.'))
        .unwrap_or("server")
}

/// The first sentence.
fn summary(doc: &str) -> &str {
    let paragraph = doc.split("\n\n").next().unwrap_or(doc);
    let sentence = paragraph.split_once(". ").map_or(paragraph, |(first, _)| first);
    sentence.trim_end_matches('.')
}

fn output(operation: &Operation) -> Output {
    match &operation.door {
        Door::Tool(tool, _) => tool.output,
        Door::Route(route) => route.output,
    }
}

fn request_body(operation: &Operation, generator: &mut SchemaGenerator) -> Option<Value> {
    let (schema, required) = match &operation.door {
        Door::Route(route) if route.takes_file => return Some(file_body()),
        Door::Route(route) => (inline(route.input?, generator), !route.optional_body),
        Door::Tool(tool, _) if tool.takes_bytes => return Some(bytes(Media::FILE)),
        Door::Tool(tool, binding) => {
            (body_schema(tool, binding, generator)?, !binding.optional_body)
        }
    };
    let content = json!({ "application/json": { "schema": schema } });
    Some(json!({ "required": required, "content": content }))
}

/// The body fields of a tool: its input, with the session unless the path names it, and without
/// path and query fields.
fn body_schema(tool: &Tool, binding: &Binding, generator: &mut SchemaGenerator) -> Option<Schema> {
    if !binding.has_body(tool) {
        return None;
    }
    let in_path = binding.path_fields(tool.of_session);
    let session = tool.of_session && !in_path.iter().any(|(_, field)| *field == "session_id");
    let mut schema = (tool.component.schema)(generator);
    let fields = schema.get("properties").and_then(Value::as_object);
    let fields: Vec<_> = fields.into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let elsewhere = |name: &str| {
        binding.is_in_query(tool, name) || in_path.iter().any(|(_, field)| *field == name)
    };
    if !session && fields.iter().all(|name| elsewhere(name)) {
        return None;
    }
    if fields.iter().any(|name| in_path.iter().any(|(_, field)| field == name)) {
        let left = fields.iter().filter(|name| !elsewhere(name));
        let left: Vec<_> = left.map(String::as_str).collect();
        keep_properties(&mut schema, &left);
        return Some(define(generator, &(tool.component.name)(), schema));
    }
    if !session {
        return Some(inline(tool.component.reference, generator));
    }
    let id = json!({ "type": "string", "description": "The session that performs the action." });
    add_property(&mut schema, "session_id", id);
    if let Value::Array(required) = schema.ensure_object().entry("required").or_insert(json!([])) {
        required.insert(0, json!("session_id"));
    }
    Some(define(generator, &(tool.component.name)(), schema))
}

/// Removes every property but these.
fn keep_properties(schema: &mut Schema, names: &[&str]) {
    let object = schema.ensure_object();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.retain(|name, _| names.contains(&name.as_str()));
    }
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| names.contains(&name)));
    }
}

fn parameters(operation: &Operation, generator: &mut SchemaGenerator) -> Vec<Value> {
    match &operation.door {
        Door::Route(route) => {
            let names = operation.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
            let names = names.map(|name| name.trim_start_matches('*'));
            let in_path = names.map(|name| path_parameter(name, json!({ "type": "string" })));
            let query = route.query.map(|query| inline(query, generator).to_value());
            in_path.chain(query_parameters(query.unwrap_or_default(), |_| true)).collect()
        }
        Door::Tool(tool, binding) => {
            let mut schema = (tool.component.schema)(generator);
            if tool.of_session {
                let id = json!({ "type": "string", "description": "Which session." });
                add_property(&mut schema, "session_id", id);
                let required = schema.ensure_object().entry("required").or_insert(json!([]));
                if let Value::Array(required) = required {
                    required.push(json!("session_id"));
                }
            }
            for flag in tool.flags() {
                add_property(&mut schema, flag.name, flag.schema());
            }
            ForClients.transform(&mut schema);
            let schema = schema.to_value();
            let fields = binding.path_fields(tool.of_session).into_iter();
            let in_path = fields.map(|(name, field)| {
                let schema = schema.get("properties").and_then(|fields| fields.get(field));
                path_parameter(name, schema.cloned().unwrap_or_else(|| json!({ "type": "string" })))
            });
            let in_path: Vec<_> = in_path.collect();
            let in_query = query_parameters(schema, |name| binding.is_in_query(tool, name));
            in_path.into_iter().chain(in_query).collect()
        }
    }
}

/// One parameter of a path.
fn path_parameter(name: &str, mut schema: Value) -> Value {
    let doc = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    let mut parameter = json!({ "name": name, "in": "path", "required": true, "schema": schema });
    if let (Some(parameter), Some(doc)) = (parameter.as_object_mut(), doc) {
        parameter.insert("description".to_owned(), doc);
    }
    parameter
}

/// A schema with all its definitions, for readers of one tool.
pub fn standalone(schema: SchemaOf) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut generator = settings.into_generator();
    let mut schema = inline(schema, &mut generator);
    if let Some(object) = schema.as_object_mut() {
        let definitions = generator.take_definitions(true);
        if !definitions.is_empty() {
            object.insert("$defs".to_owned(), definitions.into());
        }
    }
    let mut value = schema.to_value();
    without_notes(&mut value);
    value
}

/// One parameter for each wanted property of a schema.
fn query_parameters(schema: Value, wanted: impl Fn(&str) -> bool) -> Vec<Value> {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object).cloned();
    let parameter = |(name, mut schema): (String, Value)| {
        let doc = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({
            "required": required.contains(&json!(name)),
            "name": name,
            "in": "query",
            "description": doc,
            "schema": without_null(schema),
        })
    };
    let properties = properties.unwrap_or_default().into_iter();
    properties.filter(|(name, _)| wanted(name)).map(parameter).collect()
}

/// A schema in place. Schemas among the components are transformed at the end.
fn inline(schema: SchemaOf, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = schema(generator);
    ForClients.transform(&mut schema);
    schema
}

fn responses(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut responses = json!({
        operation.status.as_str(): success(operation, generator),
        "4XX": { "$ref": "#/components/responses/Error" },
        "5XX": { "$ref": "#/components/responses/Error" },
    });
    if let Value::Object(responses) = &mut responses
        && operation.may_go_on
    {
        let mut accepted = success(operation, generator);
        if let Some(description) = accepted.get_mut("description") {
            *description = "It goes on, and its result is available later.".into();
        }
        responses.insert(StatusCode::ACCEPTED.as_str().to_owned(), accepted);
    }
    responses
}

fn success(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut success = whole(output(operation), generator);
    if let Door::Tool(tool, _) = &operation.door
        && tool.flags().iter().any(|flag| flag.name == "stream")
        && let Some(content) = success.get_mut("content").and_then(Value::as_object_mut)
    {
        content.insert("text/event-stream".to_owned(), json!({}));
    }
    success
}

/// A response that is not streamed.
fn whole(output: Output, generator: &mut SchemaGenerator) -> Value {
    match output {
        Output::Json(schema) | Output::Job(schema) => {
            let schema = inline(schema, generator);
            json!({ "description": "Done.", "content": { "application/json": { "schema": schema } } })
        }
        Output::Text(media_type) => {
            let schema = json!({ "type": "string" });
            json!({ "description": "Text.", "content": { media_type: { "schema": schema } } })
        }
        Output::Bytes(media) => bytes(media),
        Output::Nothing => json!({ "description": "Done." }),
    }
}

/// The body of an upload.
fn file_body() -> Value {
    let binary = json!({ "type": "string", "format": "binary" });
    let form = json!({ "type": "object", "properties": { "file": binary }, "required": ["file"] });
    let content = json!({
        "multipart/form-data": { "schema": form },
        "application/octet-stream": { "schema": binary },
    });
    json!({ "required": true, "content": content })
}

/// A body of bytes.
fn bytes(media: Media) -> Value {
    let content = media.types.iter().map(|media_type| {
        let schema = json!({ "type": "string", "format": "binary" });
        ((*media_type).to_owned(), json!({ "schema": schema }))
    });
    let mut described = json!({ "description": media.doc, "content": Map::from_iter(content) });
    if let Some(described) = described.as_object_mut().filter(|_| !media.headers.is_empty()) {
        let header = |name: &&str| ((*name).to_owned(), json!({ "schema": { "type": "string" } }));
        let headers = Map::from_iter(media.headers.iter().map(header));
        described.insert("headers".to_owned(), headers.into());
    }
    described
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations;

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document(&operations());
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|r| r.split('"').next()) {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
    }

    #[test]
    fn an_action_is_described_with_its_session_and_its_docs() {
        let document = document(&operations());
        let click = document.pointer("/components/schemas/Click").unwrap();
        assert_eq!(click["required"], json!(["session_id"]));
        assert_eq!(click["additionalProperties"], json!(false));
        let operation = &document["paths"]["/api/v1/desktop/click"]["post"];
        assert_eq!(operation["summary"], "Click once at a point on the desktop");
        assert_eq!(operation["x-scope"], "sessions:act");
        assert_eq!(operation["tags"], json!(["desktop"]));
    }

    #[test]
    fn operations_are_documented_and_named_once() {
        let operations = operations();
        let mut ids: Vec<_> = operations.iter().map(|operation| operation.id.as_str()).collect();
        assert!(operations.iter().all(|operation| !operation.doc.is_empty()));
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
