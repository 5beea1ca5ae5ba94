//! The HTTP door: turns a request into a tool's arguments, and its outcome into a response.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{FromRequestParts, RawPathParams, Request, State},
    response::{IntoResponse, Response},
    routing::{MethodFilter, MethodRouter, on},
};
use helmdeck_sessions::Caller;
use helmdeck_wire::{ErrorCode, byte_range::ByteRange};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts};
use serde_json::{Map, Value};

use super::{Call, Outcome, Payload, Tool};
use crate::{
    App, accept, body,
    error::{ApiError, ApiResult},
    input,
    public::Address,
    query,
    token::Claims,
};

/// Where a request carries the arguments of a tool.
#[derive(Debug, Clone, Default)]
pub struct Binding {
    pub method: Method,
    pub path: String,
    /// Fields in the query although there is a body.
    pub in_query: Vec<&'static str>,
    /// Fields that HTTP clients do not send, because a header or the body carries them.
    pub hidden: Vec<&'static str>,
    /// Whether the body may be missing.
    pub optional_body: bool,
    /// Whether `Accept` selects `format` if it is not given.
    pub accept_chooses: bool,
    pub status: StatusCode,
}

impl Binding {
    /// Path parameters and their fields.
    pub fn path_fields(&self, of_session: bool) -> Vec<(&str, &str)> {
        let names = self.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        let names = names.map(|name| name.trim_start_matches('*'));
        // Other paths name a session by its noun.
        names
            .map(|name| (name, if name == "id" && of_session { "session_id" } else { name }))
            .collect()
    }

    /// Whether a field is in the query.
    pub fn is_in_query(&self, tool: &Tool, field: &str) -> bool {
        let in_path = self.path_fields(tool.of_session).iter().any(|(_, it)| *it == field);
        let bodiless = tool.takes_bytes || matches!(self.method, Method::GET | Method::DELETE);
        !in_path && !self.hidden.contains(&field) && (bodiless || self.in_query.contains(&field))
    }

    /// Whether a field belongs to the body. Without a check of whether the tool has the field.
    fn is_in_body(&self, tool: &Tool, field: &str) -> bool {
        let in_path = self.path_fields(tool.of_session).iter().any(|(_, it)| *it == field);
        !in_path && !self.hidden.contains(&field) && !self.is_in_query(tool, field)
    }

    /// Whether the body may be a JSON object.
    pub fn has_body(&self, tool: &Tool) -> bool {
        !tool.takes_bytes && !matches!(self.method, Method::GET | Method::DELETE)
    }
}

/// The route of a tool.
pub fn route(tool: &Arc<Tool>, binding: &Binding) -> MethodRouter<App> {
    let bound = Arc::new((tool.clone(), binding.clone()));
    let handler = async move |State(app): State<App>, request: Request| {
        let (tool, binding) = &*bound;
        answer(tool, binding, app, request).await
    };
    let method = MethodFilter::try_from(binding.method.clone()).unwrap_or(MethodFilter::GET);
    on(method, handler)
}

async fn answer(tool: &Tool, binding: &Binding, app: App, request: Request) -> ApiResult<Response> {
    let (mut parts, body) = request.into_parts();
    let (caller, claims) = identity(&parts)?;
    let mut args = args_of_address(tool, binding, &app, &mut parts).await?;
    let call = Call::new(app.clone(), caller, claims, Address::of(&app, &parts.headers));
    if tool.takes_bytes {
        *call.body.lock() = Some(body);
    } else if binding.has_body(tool) {
        for (name, value) in body_object(tool, binding, &app, body).await? {
            if !binding.is_in_body(tool, &name) && !binding.is_in_query(tool, &name) {
                let known = tool.schema()?;
                let known = known.fields().filter(|field| binding.is_in_body(tool, field));
                return Err(input::unknown(&name, known.map(str::to_owned).collect()));
            }
            if args.contains_key(&name) {
                return Err(input::given_twice(&name));
            }
            args.insert(name, value);
        }
    }
    args_of_headers(tool, binding, &parts.headers, &mut args);
    let outcome = tool.call(call, args).await?;
    Ok(response(outcome, binding.status))
}

/// The caller that `auth.rs` found.
fn identity(parts: &Parts) -> ApiResult<(Caller, Claims)> {
    let caller = parts.extensions.get::<Caller>().cloned();
    let claims = parts.extensions.get::<Claims>().cloned();
    caller.zip(claims).ok_or_else(|| ApiError::internal("the request has no caller"))
}

/// Arguments from path and query.
async fn args_of_address(
    tool: &Tool,
    binding: &Binding,
    app: &App,
    parts: &mut Parts,
) -> ApiResult<Map<String, Value>> {
    let schema = tool.schema()?;
    let mut args = Map::new();
    let params = RawPathParams::from_request_parts(parts, app).await.map_err(|_| {
        let message = "the path is not UTF-8: percent-encode non-ASCII characters";
        ApiError::new(ErrorCode::InvalidPath, message)
    })?;
    let fields = binding.path_fields(tool.of_session);
    for (name, text) in &params {
        let field =
            fields.iter().find(|(param, _)| *param == name).map_or(name, |(_, field)| field);
        args.insert(field.to_owned(), schema.coerce(field, text));
    }
    let known = schema.fields().any(|field| binding.is_in_query(tool, field));
    for (name, text) in
        query::pairs(parts.uri.query().unwrap_or_default()).into_iter().filter(|_| known)
    {
        if !binding.is_in_query(tool, &name) || schema.field(&name).is_none() {
            let known = schema.fields().filter(|field| binding.is_in_query(tool, field));
            return Err(input::unknown(&name, known.map(str::to_owned).collect()));
        }
        if args.contains_key(&name) {
            return Err(input::given_twice(&name));
        }
        args.insert(name.clone(), schema.coerce(&name, &text));
    }
    Ok(args)
}

async fn body_object(
    tool: &Tool,
    binding: &Binding,
    app: &App,
    body: Body,
) -> ApiResult<Map<String, Value>> {
    let bytes = body::read_call(body, app, tool).await?;
    let path = binding.path_fields(tool.of_session);
    let takes_any = tool
        .schema()?
        .fields()
        .any(|field| !binding.is_in_query(tool, field) && !path.iter().any(|(_, it)| *it == field));
    // A call without body fields ignores its body.
    if !takes_any || (binding.optional_body && bytes.trim_ascii().is_empty()) {
        return Ok(Map::new());
    }
    body::object(&bytes)
}

/// Arguments from headers.
fn args_of_headers(
    tool: &Tool,
    binding: &Binding,
    headers: &HeaderMap,
    args: &mut Map<String, Value>,
) {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if binding.accept_chooses && args.get("format").is_none_or(Value::is_null) {
        let format = accept::preferred(text(header::ACCEPT).unwrap_or_default());
        args.insert("format".to_owned(), format.name().into());
    }
    // Files have no version to compare, so conditional range requests get the whole file.
    let range = text(header::RANGE).filter(|_| !headers.contains_key(header::IF_RANGE));
    if tool.schema().is_ok_and(|schema| schema.field("range").is_some())
        && let Some(range) = range.filter(|range| ByteRange::parse(range).is_some())
    {
        args.insert("range".to_owned(), range.into());
    }
}

/// An outcome as an HTTP response.
pub fn response(outcome: Outcome, status: StatusCode) -> Response {
    let status = outcome.status.unwrap_or(status);
    let mut headers = outcome.headers;
    let body = match outcome.payload {
        Payload::Nothing => return (status, headers).into_response(),
        Payload::Json(bytes) => {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Body::from(bytes)
        }
        Payload::Bytes { media_type, bytes } => {
            headers.insert(header::CONTENT_TYPE, media_type);
            Body::from(bytes)
        }
        Payload::Stream { media_type, size, body } => {
            headers.insert(header::CONTENT_TYPE, media_type);
            if let Some(size) = size {
                headers.insert(header::CONTENT_LENGTH, size.into());
            }
            body
        }
    };
    (status, headers, body).into_response()
}
