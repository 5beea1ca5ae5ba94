//! Operations: routes of the API that are either tools or plain routes.
//!
//! An operation defines its route, its scope check, its entry in the OpenAPI document and its row
//! in the access test. Plain routes are streams, WebSockets, pages, logins, health checks, the version, metrics,
//! documents for clients, transfers of artifacts, calls of a tool or pack by name, versions of packs, inputs of
//! jobs, and the APIs of others (MCP, A2A, CDP, models). Everything else is a tool.

use std::sync::Arc;

use axum::{
    handler::Handler,
    routing::{MethodFilter, MethodRouter, on},
};
use helmdeck_sessions::Scope;
use helmdeck_wire::{Action, ActionCall, body::BytesReply, parse::Invalid};
use http::{Method, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::{
    App,
    action_options::{Observed, WithOptions, WithSettle, WithTarget},
    tool::{
        Component, Nature, Tool, action_tool,
        http::{self as tool_route, Binding},
    },
};

/// Access rule of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone, without a token.
    Open,
    /// A token with this scope.
    Needs(Scope),
    /// Any token. The called tool checks its own scope.
    AnyToken,
    /// A token with the right to act, or a ticket for the session in the path.
    Watches,
    /// A token with this scope, or a signed link, which the handler checks.
    Linked(Scope),
}

/// One operation of the API.
pub struct Operation {
    /// HTTP method.
    pub method: Method,
    /// Path with parameters in braces.
    pub path: String,
    /// Access rule.
    pub access: Access,
    /// Name in documentation and metrics.
    pub id: String,
    /// What it does, for people and models.
    pub doc: String,
    /// Status of a success.
    pub status: StatusCode,
    /// Whether it may also answer 202, with the same body, while the work goes on.
    pub may_go_on: bool,
    /// Whether the OpenAPI document lists it. Aliases of a path are not listed.
    pub documented: bool,
    pub(crate) door: Door,
}

/// What handles the requests.
pub(crate) enum Door {
    /// A tool.
    Tool(Arc<Tool>, Binding),
    /// A handler of HTTP requests.
    Route(Box<Route>),
}

/// An HTTP handler and its documentation.
pub(crate) struct Route {
    pub handler: MethodRouter<App>,
    pub input: Option<SchemaOf>,
    /// Whether the body is a file, alone or in a form.
    pub takes_file: bool,
    /// Whether the body may be missing.
    pub optional_body: bool,
    pub query: Option<SchemaOf>,
    pub output: Output,
}

/// Adds a type's schema and its definitions to a document.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The body of a success.
#[derive(Clone, Copy)]
pub enum Output {
    Json(SchemaOf),
    /// A job, with this output.
    Job(SchemaOf),
    Text(&'static str),
    Bytes(Media),
    Nothing,
}

/// A body of bytes.
#[derive(Clone, Copy)]
pub struct Media {
    pub doc: &'static str,
    /// Possible media types.
    pub types: &'static [&'static str],
    /// Headers with metadata.
    pub headers: &'static [&'static str],
}

impl Media {
    /// Any content.
    pub const FILE: Self =
        Self { doc: "The file.", types: &["application/octet-stream"], headers: &[] };

    /// A picture.
    pub const JPEG: Self = Self { doc: "The picture.", types: &["image/jpeg"], headers: &[] };

    fn of<R: BytesReply>() -> Self {
        Self { doc: R::DOC, types: R::MEDIA_TYPES, headers: R::HEADERS }
    }
}

/// A plain route that reads.
pub fn get<H, T>(path: &str, access: Access, id: &str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    Operation::plain(Method::GET, path, access, id, on(MethodFilter::GET, handler))
}

/// A plain route that changes something.
pub fn post<H, T>(path: &str, access: Access, id: &str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    Operation::plain(Method::POST, path, access, id, on(MethodFilter::POST, handler))
}

/// A plain route that deletes something.
pub fn delete<H, T>(path: &str, access: Access, id: &str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    Operation::plain(Method::DELETE, path, access, id, on(MethodFilter::DELETE, handler))
}

/// An action of the guest with a JSON reply.
pub fn action<A: Action>(nature: Nature) -> Operation
where
    A::Reply: JsonSchema,
{
    of_action::<A>(nature, Output::Json(|generator| generator.subschema_for::<A::Reply>()))
}

/// An action of the guest that can report its effect.
pub fn observed_action<A: Action>(nature: Nature) -> Operation
where
    A::Reply: JsonSchema,
{
    let output = Output::Json(|generator| generator.subschema_for::<Observed<A::Reply>>());
    perform(names::<A>(), nature, output, Component::of::<WithOptions<A>>(), A::call)
}

/// An action of the guest that reads an element, which can be named by a target.
pub fn targeted_action<A: Action>(nature: Nature) -> Operation
where
    A::Reply: JsonSchema,
{
    let output = Output::Json(|generator| generator.subschema_for::<A::Reply>());
    perform(names::<A>(), nature, output, Component::of::<WithTarget<A>>(), A::call)
}

/// An action of the guest with a picture as reply.
pub fn picture<A: Action>(nature: Nature) -> Operation
where
    A::Reply: BytesReply,
{
    let output = Output::Bytes(Media::of::<A::Reply>());
    perform(names::<A>(), nature, output, Component::of::<WithSettle<A>>(), A::call)
        .accept_chooses()
}

/// An action of the guest with a document as reply.
pub fn document<A: Action>(nature: Nature) -> Operation
where
    A::Reply: BytesReply,
{
    of_action::<A>(nature, Output::Bytes(Media::of::<A::Reply>()))
}

/// An action with its own name and the doc of its type.
fn of_action<A: Action>(nature: Nature, output: Output) -> Operation {
    perform(names::<A>(), nature, output, Component::of::<A>(), A::call)
}

/// The part that does not depend on the type of the action.
fn perform(
    (noun, verb): (&str, &str),
    nature: Nature,
    output: Output,
    component: Component,
    read: fn(Value) -> Result<ActionCall, Invalid>,
) -> Operation {
    let act = action_tool(&format!("{noun}.{verb}"), component, read);
    let act = act.nature(nature).scope(Scope::SESSIONS_ACT).of_session().output(output);
    let doc = format!("{}{}", description(component.schema), nature.whereabouts());
    act.doc(doc).post(&format!("/api/v1/{noun}/{verb}"), &format!("{noun}_{verb}"))
}

/// Noun and verb of an action.
pub fn names<A: Action>() -> (&'static str, &'static str) {
    match A::NAME.strip_prefix("browser_") {
        Some(verb) => ("browser", verb),
        None => ("desktop", A::NAME),
    }
}

impl Tool {
    /// The operation that calls it by GET.
    pub(crate) fn get(self, path: &str, id: &str) -> Operation {
        self.at(Method::GET, path, id)
    }

    /// The operation that calls it by POST.
    pub(crate) fn post(self, path: &str, id: &str) -> Operation {
        self.at(Method::POST, path, id)
    }

    /// The operation that calls it by PUT.
    pub(crate) fn put(self, path: &str, id: &str) -> Operation {
        self.at(Method::PUT, path, id)
    }

    /// The operation that calls it by PATCH.
    pub(crate) fn patch(self, path: &str, id: &str) -> Operation {
        self.at(Method::PATCH, path, id)
    }

    /// The operation that calls it by DELETE.
    pub(crate) fn delete(self, path: &str, id: &str) -> Operation {
        self.at(Method::DELETE, path, id)
    }

    fn at(self, method: Method, path: &str, id: &str) -> Operation {
        let status = match self.output {
            Output::Nothing => StatusCode::NO_CONTENT,
            _ => StatusCode::OK,
        };
        let binding =
            Binding { method: method.clone(), path: path.to_owned(), status, ..Binding::default() };
        Operation {
            method,
            path: path.to_owned(),
            access: Access::Needs(self.scope),
            id: id.to_owned(),
            doc: self.doc.clone(),
            status,
            may_go_on: false,
            documented: true,
            door: Door::Tool(Arc::new(self), binding),
        }
    }
}

impl Operation {
    fn plain(
        method: Method,
        path: &str,
        access: Access,
        id: &str,
        handler: MethodRouter<App>,
    ) -> Self {
        Self {
            method,
            path: path.to_owned(),
            access,
            id: id.to_owned(),
            doc: String::new(),
            status: StatusCode::OK,
            may_go_on: false,
            documented: true,
            door: Door::Route(Box::new(Route {
                handler,
                input: None,
                takes_file: false,
                optional_body: false,
                query: None,
                output: Output::Nothing,
            })),
        }
    }

    /// The tool that it calls, if any.
    pub fn tool(&self) -> Option<&Arc<Tool>> {
        match &self.door {
            Door::Tool(tool, _) => Some(tool),
            Door::Route(_) => None,
        }
    }

    /// The handler of its requests.
    pub(crate) fn handler(&self) -> MethodRouter<App> {
        match &self.door {
            Door::Tool(tool, binding) => tool_route::route(tool, binding),
            Door::Route(route) => route.handler.clone(),
        }
    }

    fn route(mut self, change: impl FnOnce(&mut Route)) -> Self {
        if let Door::Route(route) = &mut self.door {
            change(route);
        }
        self
    }

    fn binding(mut self, change: impl FnOnce(&mut Binding)) -> Self {
        if let Door::Tool(_, binding) = &mut self.door {
            change(binding);
        }
        self
    }

    /// The doc of a plain route.
    pub(crate) fn doc(self, doc: &str) -> Self {
        Self { doc: doc.to_owned(), ..self }
    }

    pub(crate) fn query<T: JsonSchema>(self) -> Self {
        self.route(|route| route.query = Some(T::json_schema))
    }

    pub(crate) fn takes<T: JsonSchema>(self) -> Self {
        self.route(|route| route.input = Some(|generator| generator.subschema_for::<T>()))
    }

    /// Declares that the body is a file: its bytes, or a form with the field `file`.
    pub(crate) fn takes_file(self) -> Self {
        self.route(|route| route.takes_file = true)
    }

    /// Declares a body that may be missing.
    pub(crate) fn may_take<T: JsonSchema>(self) -> Self {
        self.takes::<T>().route(|route| route.optional_body = true)
    }

    /// Declares that it upgrades to a WebSocket.
    pub(crate) fn upgrades(self) -> Self {
        self.status(StatusCode::SWITCHING_PROTOCOLS)
    }

    pub(crate) fn returns<T: JsonSchema>(self) -> Self {
        let output = Output::Json(|generator| generator.subschema_for::<T>());
        self.route(|route| route.output = output)
    }

    pub(crate) fn returns_bytes(self, media: Media) -> Self {
        self.route(|route| route.output = Output::Bytes(media))
    }

    pub(crate) fn returns_text(self, media_type: &'static str) -> Self {
        self.route(|route| route.output = Output::Text(media_type))
    }

    /// Declares that it may answer 202 while the work goes on.
    pub(crate) fn may_go_on(self) -> Self {
        Self { may_go_on: true, ..self }
    }

    /// Hides it from the OpenAPI document.
    pub(crate) fn undocumented(self) -> Self {
        Self { documented: false, ..self }
    }

    pub(crate) fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }.binding(|binding| binding.status = status)
    }

    /// Fields of the tool that are in the query although there is a body.
    pub(crate) fn in_query(self, fields: &[&'static str]) -> Self {
        self.binding(|binding| binding.in_query = fields.to_vec())
    }

    /// Fields of the tool that HTTP clients send in another way.
    pub(crate) fn hidden(self, fields: &[&'static str]) -> Self {
        self.binding(|binding| binding.hidden = fields.to_vec())
    }

    /// A missing body counts as an empty object.
    pub(crate) fn optional_body(self) -> Self {
        self.binding(|binding| binding.optional_body = true)
    }

    /// `Accept` selects the format if the body does not.
    fn accept_chooses(self) -> Self {
        self.binding(|binding| binding.accept_chooses = true)
    }
}

/// The doc comment of a type without the source's line breaks.
pub fn description(schema: SchemaOf) -> String {
    let schema = schema(&mut SchemaGenerator::default());
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let paragraphs: Vec<_> = text.split("\n\n").map(|text| text.replace('\n', " ")).collect();
    paragraphs.join("\n\n")
}

/// Adds a property to an object's schema.
pub fn add_property(schema: &mut Schema, name: &str, property: Value) {
    let properties = schema.ensure_object().entry("properties").or_insert(json!({}));
    if let Value::Object(properties) = properties {
        properties.insert(name.to_owned(), property);
    }
}

/// Adds a schema to the document's components and returns a reference to it.
pub fn define(generator: &mut SchemaGenerator, name: &str, schema: Schema) -> Schema {
    generator.definitions_mut().insert(name.to_owned(), schema.to_value());
    Schema::new_ref(format!("#/components/schemas/{name}"))
}
