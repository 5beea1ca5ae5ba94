//! Tools: operations that callers can use through any door.
//!
//! A tool defines its HTTP route, its scope check, its entry in the OpenAPI document, its row in
//! the access test, and its command-line verb. `table.rs` lists all tools.

pub mod http;
mod in_process;
mod outcome;
pub(crate) mod pack;
mod schemas;

use std::{
    future::{Future, ready},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use axum::body::Body;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_packs::Pack;
use helmdeck_schema::Schema;
use helmdeck_sessions::{Caller, Scope, Session};
use helmdeck_wire::{ActionCall, ErrorCode, SessionId, job::JobId, parse::Invalid};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::{
    App,
    error::{ApiError, ApiResult},
    input,
    operation::{Output, SchemaOf},
    public::Address,
    routes::desktop,
    token::Claims,
};

pub use helmdeck_wire::nature::{Effect, Nature, Style, Substrate, Surface};
pub use in_process::InProcess;
pub use outcome::{Outcome, Payload};
pub use pack::pack_tool;
use schemas::Schemas;
pub use schemas::SharedSchema;

/// A tool of the table.
pub struct Tool {
    /// Name, such as `desktop.click`.
    pub name: String,
    /// Short title for lists.
    pub title: String,
    /// What it does, for people and models.
    pub doc: String,
    /// Required scope.
    pub scope: Scope,
    /// Properties of a call.
    pub nature: Nature,
    /// Whether it acts on one session, named by `session_id`.
    pub of_session: bool,
    pub(crate) output: Output,
    /// The input without `session_id` and flags, as a component of the OpenAPI document.
    pub(crate) component: Component,
    /// Whether its content is the body of an HTTP request.
    pub(crate) takes_bytes: bool,
    /// Whether it needs a model to be of use.
    pub(crate) needs_model: bool,
    /// The pack that it runs, if it is one.
    pub(crate) pack: Option<Arc<Pack>>,
    flags: Vec<Flag>,
    root_schema: RootSchema,
    schemas: Schemas,
    prepare: Prepare,
    handler: Handler,
}

/// The input of a tool in the OpenAPI document.
#[derive(Clone, Copy)]
pub struct Component {
    /// A reference to it.
    pub reference: SchemaOf,
    /// The schema itself.
    pub schema: SchemaOf,
    /// Name of the schema.
    pub name: fn() -> String,
}

/// A boolean field besides the input.
pub(crate) struct Flag {
    pub name: &'static str,
    pub doc: &'static str,
    pub default: bool,
}

/// One call of a tool, with its context.
pub struct Call {
    pub app: App,
    pub caller: Caller,
    /// The caller's token.
    pub claims: Claims,
    /// Address under which the caller knows this server.
    pub address: Address,
    /// Content of the call, for tools that take bytes.
    pub body: Mutex<Option<Body>>,
    /// Is told the job that the call becomes.
    pub(crate) job: Option<watch::Sender<Option<JobId>>>,
    /// How long the client waits, if it gives up on its own.
    pub(crate) patience: Option<Duration>,
    session_id: Option<SessionId>,
    flags: Vec<(&'static str, bool)>,
}

/// Content that was sent as a field, by callers that cannot send bytes.
pub struct Content {
    pub text: Option<String>,
    pub base64: Option<String>,
}

/// An input without fields.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}

/// Normalizes arguments before they are checked.
pub(crate) type Prepare = fn(Map<String, Value>) -> ApiResult<Map<String, Value>>;
type RootSchema = Box<dyn Fn() -> Value + Send + Sync>;
type Answer = Pin<Box<dyn Future<Output = ApiResult<Outcome>> + Send>>;
type Handler = Box<dyn Fn(Call, &Schema, Value) -> Answer + Send + Sync>;

impl Call {
    pub(crate) fn new(app: App, caller: Caller, claims: Claims, address: Address) -> Self {
        Self {
            app,
            caller,
            claims,
            address,
            body: Mutex::default(),
            job: None,
            patience: None,
            session_id: None,
            flags: Vec::new(),
        }
    }

    /// Tells the job that the call becomes, if it becomes one.
    pub(crate) fn reporting(self, job: watch::Sender<Option<JobId>>) -> Self {
        Self { job: Some(job), ..self }
    }

    /// Says how long the client waits, if it gives up on its own.
    pub(crate) fn within(self, patience: Option<Duration>) -> Self {
        Self { patience, ..self }
    }

    /// Id of the session that the call is for.
    pub fn session_id(&self) -> ApiResult<&SessionId> {
        self.session_id.as_ref().ok_or_else(|| ApiError::internal("the tool has no session"))
    }

    /// The session that the call is for, if it belongs to the caller.
    pub fn session(&self) -> ApiResult<Session> {
        Ok(self.app.sessions.get(&self.caller, self.session_id()?)?)
    }

    /// Content of the call: its body, or else a field.
    pub fn content(&self, content: Content) -> ApiResult<Body> {
        let wrong = |field: &str, message: &str| {
            ApiError::new(ErrorCode::InvalidInput, message).of_field(field, Vec::new())
        };
        match (self.body.lock().take(), content.text, content.base64) {
            (Some(body), ..) => Ok(body),
            (None, Some(text), None) => Ok(Body::from(text)),
            (None, None, Some(text)) => match BASE64_STANDARD.decode(text) {
                Ok(bytes) => Ok(Body::from(bytes)),
                Err(_) => Err(wrong("content_base64", "content_base64 is not base64")),
            },
            (None, Some(_), Some(_)) => {
                Err(wrong("content", "content and content_base64 are both given: choose one"))
            }
            (None, None, None) => Err(wrong("content", "content is missing")),
        }
    }

    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|(flag, set)| *flag == name && *set)
    }
}

/// A tool whose handler returns a value to serialize as JSON.
pub fn json_tool<I, O, F, R>(name: &str, handler: F) -> Tool
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + 'static,
    F: Fn(Call, I) -> R + Send + Sync + 'static,
    R: Future<Output = ApiResult<O>> + Send + 'static,
{
    let answer = move |call, input| {
        let work = handler(call, input);
        async move { Outcome::json(&work.await?) }
    };
    tool(name, answer).returns::<O>()
}

/// A tool. Everything that depends on the type of its input is in this function.
pub fn tool<I, F, R>(name: &str, handler: F) -> Tool
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(Call, I) -> R + Send + Sync + 'static,
    R: Future<Output = ApiResult<Outcome>> + Send + 'static,
{
    let handler = move |call, schema: &Schema, value| -> Answer {
        match input::parse::<I>(schema, value) {
            Ok(input) => Box::pin(handler(call, input)),
            Err(refused) => Box::pin(ready(Err(refused))),
        }
    };
    Tool::new(name, Component::of::<I>(), Box::new(handler))
}

/// A tool that performs an action. `A::call` stands for the type, so that this is compiled once.
pub(crate) fn action_tool(
    name: &str,
    component: Component,
    read: fn(Value) -> Result<ActionCall, Invalid>,
) -> Tool {
    let handler = move |call, schema: &Schema, value| -> Answer {
        match read(value) {
            Ok(action) => Box::pin(desktop::act(call, action)),
            Err(invalid) => Box::pin(ready(Err(input::not_parsed(schema, invalid)))),
        }
    };
    Tool::new(name, component, Box::new(handler))
}

/// `desktop.mouse_move` becomes "Desktop mouse move".
fn title(name: &str) -> String {
    let words = name.replace(['.', '_'], " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

impl Component {
    /// The input of this type.
    pub fn of<I: JsonSchema>() -> Self {
        Self {
            reference: |generator| generator.subschema_for::<I>(),
            schema: I::json_schema,
            name: || I::schema_name().into_owned(),
        }
    }
}

impl Tool {
    fn new(name: &str, component: Component, handler: Handler) -> Self {
        Self {
            name: name.to_owned(),
            title: title(name),
            doc: String::new(),
            scope: Scope::ADMIN,
            nature: Nature::default(),
            of_session: false,
            output: Output::Nothing,
            component,
            takes_bytes: false,
            needs_model: false,
            pack: None,
            flags: Vec::new(),
            root_schema: Box::new(move || input::root_schema(component.schema, component.name)),
            schemas: Schemas::default(),
            prepare: Ok,
            handler,
        }
    }

    /// Checks the arguments and runs the tool. The caller's scope was checked before.
    pub async fn call(&self, mut call: Call, args: Map<String, Value>) -> ApiResult<Outcome> {
        let schema = self.schema()?;
        let mut value = input::check(schema, (self.prepare)(args)?)?;
        let fields = value.as_object_mut();
        if let Some(fields) = fields {
            if self.of_session
                && let Some(Value::String(id)) = fields.remove("session_id")
            {
                call.session_id = Some(SessionId::new(id));
            }
            for flag in &self.flags {
                let given = fields.remove(flag.name).and_then(|value| value.as_bool());
                call.flags.push((flag.name, given.unwrap_or(flag.default)));
            }
        }
        (self.handler)(call, schema, value).await
    }

    /// Checks the caller's scope and calls the tool.
    pub async fn call_as(&self, call: Call, args: Map<String, Value>) -> ApiResult<Outcome> {
        if !call.caller.may(self.scope) {
            return Err(lacks(self.scope));
        }
        let mut span = helmdeck_telemetry::start(
            || format!("execute_tool {}", self.name),
            helmdeck_telemetry::Kind::Internal,
        );
        span.set("gen_ai.operation.name", "execute_tool");
        span.set("gen_ai.tool.name", self.name.as_ref());
        let outcome = span.scope(self.call(call, args)).await;
        if let Err(error) = &outcome {
            span.fail(error.code.as_str());
        }
        outcome
    }

    pub(crate) fn flags(&self) -> &[Flag] {
        &self.flags
    }

    pub(crate) fn doc(self, doc: impl Into<String>) -> Self {
        Self { doc: doc.into(), ..self }
    }

    pub(crate) fn scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    pub(crate) fn nature(self, nature: Nature) -> Self {
        Self { nature, ..self }
    }

    /// Declares that it acts on one session.
    pub(crate) fn of_session(self) -> Self {
        Self { of_session: true, ..self }
    }

    /// Adds a flag besides its input.
    pub(crate) fn flag(mut self, name: &'static str, doc: &'static str, default: bool) -> Self {
        self.flags.push(Flag { name, doc, default });
        self
    }

    /// Declares that it takes content as bytes.
    pub(crate) fn takes_bytes(self) -> Self {
        Self { takes_bytes: true, ..self }
    }

    /// Declares that it is of use only with a model.
    pub(crate) fn needs_model(self) -> Self {
        Self { needs_model: true, ..self }
    }

    /// Accepts arguments in other shapes, which `prepare` normalizes.
    pub(crate) fn prepare(self, prepare: Prepare, documented_as: SchemaOf) -> Self {
        let component = Component { reference: documented_as, ..self.component };
        Self { prepare, component, ..self }
    }

    pub(crate) fn returns<O: JsonSchema>(self) -> Self {
        self.output(Output::Json(|generator| generator.subschema_for::<O>()))
    }

    pub(crate) fn output(self, output: Output) -> Self {
        Self { output, ..self }
    }
}

impl Flag {
    pub(crate) fn schema(&self) -> Value {
        json!({ "type": "boolean", "description": self.doc, "default": self.default })
    }
}

/// The error for a token without the required scope.
pub fn lacks(scope: Scope) -> ApiError {
    let message = format!("this token lacks the scope {scope}: create one that has it");
    ApiError::new(ErrorCode::Forbidden, message)
}
