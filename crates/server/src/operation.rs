//! What an operation is. One value is the source of its route, its scope check, its place in the
//! OpenAPI document and its row in the access test.

use std::any::TypeId;

use axum::{
    handler::Handler,
    routing::{MethodFilter, MethodRouter, on},
};
use helmdeck_sessions::Scope;
use helmdeck_wire::{Action, body::BytesReply};
use http::{Method, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::{
    App,
    limits::{self, Limit},
    routes::desktop::{self, Pictured},
};

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone, without a token.
    Open,
    /// Whoever has a token with this scope.
    Needs(Scope),
    /// Whoever has a token that may act, or a ticket for the session in the path.
    Watches,
}

/// One operation of the API.
pub struct Operation {
    /// How it is called.
    pub method: Method,
    /// Where, with parameters in braces.
    pub path: String,
    /// By whom.
    pub access: Access,
    /// Its name in documents and metrics.
    pub id: String,
    /// What it does, for people and models.
    pub doc: String,
    /// The status of success.
    pub status: StatusCode,
    /// Whether the OpenAPI document lists it. Second spellings of a path are left out.
    pub documented: bool,
    pub(crate) input: Option<Input>,
    pub(crate) takes_bytes: bool,
    pub(crate) query: Option<SchemaOf>,
    pub(crate) output: Output,
    pub(crate) handler: MethodRouter<App>,
}

/// Writes a type's schema, and those it refers to, into a document.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The JSON body of a request.
pub struct Input {
    pub schema: SchemaOf,
    pub required: bool,
    pub parsed_as: TypeId,
    pub limits: fn() -> Vec<Limit>,
}

/// The body of a success.
#[derive(Clone, Copy)]
pub enum Output {
    Json(SchemaOf),
    Text(&'static str),
    Bytes(Media),
    Nothing,
}

/// A body of bytes.
#[derive(Clone, Copy)]
pub struct Media {
    pub doc: &'static str,
    /// What it may be.
    pub types: &'static [&'static str],
    /// The headers with its facts.
    pub headers: &'static [&'static str],
}

impl Media {
    /// Whatever it is.
    pub const FILE: Self =
        Self { doc: "The file.", types: &["application/octet-stream"], headers: &[] };

    /// A picture.
    pub const JPEG: Self = Self { doc: "The picture.", types: &["image/jpeg"], headers: &[] };

    fn of<R: BytesReply>() -> Self {
        Self { doc: R::DOC, types: R::MEDIA_TYPES, headers: R::HEADERS }
    }
}

/// An operation that reads.
pub fn get<H, T>(path: &str, access: Access, id: &str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    Operation::new(Method::GET, path, access, id, on(MethodFilter::GET, handler))
}

/// An operation that does something.
pub fn post<H, T>(path: &str, access: Access, id: &str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    Operation::new(Method::POST, path, access, id, on(MethodFilter::POST, handler))
}

/// An operation that puts something in its place.
pub fn put<H, T>(path: &str, access: Access, id: &str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    Operation::new(Method::PUT, path, access, id, on(MethodFilter::PUT, handler))
}

/// An operation that changes something.
pub fn patch<H, T>(path: &str, access: Access, id: &str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    Operation::new(Method::PATCH, path, access, id, on(MethodFilter::PATCH, handler))
}

/// An operation that ends something.
pub fn delete<H, T>(path: &str, access: Access, id: &str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    Operation::new(Method::DELETE, path, access, id, on(MethodFilter::DELETE, handler))
}

/// An action that the guest does and answers with JSON.
pub fn action<A: Action>() -> Operation
where
    A::Reply: JsonSchema,
{
    of_action::<A, _, _>(desktop::act::<A>).returns::<A::Reply>()
}

/// An action that the guest answers with a picture.
pub fn picture<A: Pictured>() -> Operation
where
    A::Reply: BytesReply,
{
    of_action::<A, _, _>(desktop::look::<A>).returns_media(Media::of::<A::Reply>())
}

/// An action that the guest answers with a document.
pub fn document<A: Action>() -> Operation
where
    A::Reply: BytesReply,
{
    of_action::<A, _, _>(desktop::act::<A>).returns_media(Media::of::<A::Reply>())
}

/// Where the structured browser works. Agents choose a tool by who can see it work.
const BROWSER: &str = " Runs in the session's Chromium: VISIBLE to people watching if the session has \
                       a desktop, otherwise HEADLESS.";
/// Where desktop tools work.
pub const DESKTOP: &str = " Runs on the session's VISIBLE desktop, which people can watch.";

/// An action under its own name, with the doc of its type.
pub fn of_action<A, H, T>(handler: H) -> Operation
where
    A: Action,
    H: Handler<T, App>,
    T: 'static,
{
    let (path, id, whereabouts) = match A::NAME.strip_prefix("browser_") {
        Some(verb) => (format!("/api/v1/browser/{verb}"), A::NAME.to_owned(), BROWSER),
        None => (format!("/api/v1/desktop/{}", A::NAME), format!("desktop_{}", A::NAME), DESKTOP),
    };
    let input = Input {
        schema: targeted::<A>,
        required: true,
        parsed_as: TypeId::of::<A>(),
        limits: limits::of::<A>,
    };
    let operation = post(&path, Access::Needs(Scope::SessionsAct), &id, handler);
    Operation { input: Some(input), ..operation }
        .doc(&format!("{}{whereabouts}", description::<A>()))
}

impl Operation {
    fn new(
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
            documented: true,
            input: None,
            takes_bytes: false,
            query: None,
            output: Output::Nothing,
            handler,
        }
    }

    pub(crate) fn doc(self, doc: &str) -> Self {
        Self { doc: doc.to_owned(), ..self }
    }

    pub(crate) fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(T::json_schema), ..self }
    }

    pub(crate) fn takes<T: JsonSchema + 'static>(self) -> Self {
        self.takes_as::<T>(|generator| generator.subschema_for::<T>(), true)
    }

    /// Takes a `T` that is documented in a wider shape than the one it has inside.
    pub(crate) fn takes_as<T: JsonSchema + 'static>(
        self,
        schema: SchemaOf,
        required: bool,
    ) -> Self {
        let parsed_as = TypeId::of::<T>();
        Self { input: Some(Input { schema, required, parsed_as, limits: limits::of::<T> }), ..self }
    }

    /// Takes a `T`, or no body at all.
    pub(crate) fn may_take<T: JsonSchema + 'static>(self) -> Self {
        self.takes_as::<T>(|generator| generator.subschema_for::<T>(), false)
    }

    /// Answers with an upgrade to a WebSocket.
    pub(crate) fn upgrades(self) -> Self {
        Self { status: StatusCode::SWITCHING_PROTOCOLS, ..self }
    }

    pub(crate) fn returns<T: JsonSchema>(self) -> Self {
        Self { output: Output::Json(|generator| generator.subschema_for::<T>()), ..self }
    }

    pub(crate) fn returns_text(self, media_type: &'static str) -> Self {
        Self { output: Output::Text(media_type), ..self }
    }

    pub(crate) fn returns_bytes(self) -> Self {
        self.returns_media(Media::FILE)
    }

    pub(crate) fn returns_media(self, media: Media) -> Self {
        Self { output: Output::Bytes(media), ..self }
    }

    /// Takes bytes, whatever they are.
    pub(crate) fn takes_bytes(self) -> Self {
        Self { takes_bytes: true, ..self }
    }

    /// Leaves it out of the OpenAPI document.
    pub(crate) fn undocumented(self) -> Self {
        Self { documented: false, ..self }
    }

    pub(crate) fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

/// The doc comment of a type, line breaks of the source removed.
pub fn description<T: JsonSchema>() -> String {
    let schema = schemars::schema_for!(T);
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let paragraphs: Vec<_> = text.split("\n\n").map(|text| text.replace('\n', " ")).collect();
    paragraphs.join("\n\n")
}

/// An action's schema with the session that shall do it, as the body really looks.
fn targeted<A: Action>(generator: &mut SchemaGenerator) -> Schema {
    let session_id =
        json!({ "type": "string", "description": "The session that performs the action." });
    let mut schema = A::json_schema(generator);
    add_property(&mut schema, "session_id", session_id);
    let object = schema.ensure_object();
    if let Value::Array(required) = object.entry("required").or_insert(json!([])) {
        required.insert(0, json!("session_id"));
    }
    define(generator, &A::schema_name(), schema)
}

/// Adds a property to an object's schema.
pub fn add_property(schema: &mut Schema, name: &str, property: Value) {
    let properties = schema.ensure_object().entry("properties").or_insert(json!({}));
    if let Value::Object(properties) = properties {
        properties.insert(name.to_owned(), property);
    }
}

/// Puts a schema among the document's components and returns a reference to it.
pub fn define(generator: &mut SchemaGenerator, name: &str, schema: Schema) -> Schema {
    generator.definitions_mut().insert(name.to_owned(), schema.to_value());
    Schema::new_ref(format!("#/components/schemas/{name}"))
}
