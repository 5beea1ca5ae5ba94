//! The rows of the API, each with a valid request and a fake guest's reply.
//!
//! Everything comes from `docs/openapi.json`: new rows need no change here.

use std::sync::OnceLock;

use http::Method;
use serde_json::{Map, Value, json};

use super::sample::sample;

const DOCUMENT: &str = include_str!("../../../../docs/openapi.json");
/// Bodies with rules beyond the schema, such as fields that depend on each other.
const BODIES: [(&str, &str); 11] = [
    ("desktop_drag", r#"{"start_x": 1, "start_y": 1, "end_x": 2, "end_y": 2}"#),
    ("desktop_zoom", r#"{"x1": 0, "y1": 0, "x2": 100, "y2": 100}"#),
    ("desktop_key", r#"{"keys": "a"}"#),
    ("desktop_hold_key", r#"{"keys": "a", "seconds": 0.1}"#),
    ("desktop_focus", r#"{"window_id": "1"}"#),
    ("browser_press", r#"{"keys": "a"}"#),
    ("browser_navigate", r#"{"url": "https://example.com/"}"#),
    ("browser_wait_for", r#"{"selector": "body"}"#),
    (
        "create_credential",
        r#"{"name": "{session}", "host_pattern": "a.example", "value": "a secret"}"#,
    ),
    ("rotate_credential", r#"{"value": "a secret"}"#),
    ("browser_select", r#"{"selector": "select", "values": ["one"]}"#),
];

/// One row of the API.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its operation id.
    pub id: String,
    /// HTTP method.
    pub method: Method,
    /// Path with parameters in braces.
    pub path: String,
    /// Required scope; `None` if no token is needed.
    pub scope: Option<String>,
    /// Status of a success.
    pub status: u16,
    /// Reply of a success.
    pub reply: Reply,
    /// Name on the link, if the guest performs it.
    pub action: Option<String>,
    query: Vec<(String, String)>,
    body: Option<Value>,
}

/// A reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// JSON, with a sample.
    Json(Value),
    /// Bytes of one of these media types.
    Bytes(Vec<String>),
    /// Empty.
    Nothing,
    /// A WebSocket.
    Upgrade,
}

impl Row {
    /// Every row of the OpenAPI document.
    pub fn all() -> &'static [Self] {
        static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
        ROWS.get_or_init(|| {
            let document: Value = serde_json::from_str(DOCUMENT).expect("the document is JSON");
            let paths = document["paths"].as_object().expect("paths");
            let rows = paths.iter().flat_map(|(path, methods)| {
                let methods = methods.as_object().expect("methods").iter();
                let methods = methods.filter(|(_, row)| row.get("operationId").is_some());
                methods.map(|(method, row)| of(&document, path, method, row))
            });
            rows.collect()
        })
    }

    /// The row of this action.
    pub fn of_action(action: &str) -> Option<&'static Self> {
        Self::all().iter().find(|row| row.action.as_deref() == Some(action))
    }

    /// A path and body that are valid for a session. Path parameters other than the session's id
    /// name nothing that exists.
    pub fn request(&self, session: &str) -> (String, Option<Value>) {
        let segments = self.path.split('/').map(|segment| match segment {
            "{id}" => session,
            "{port}" => "8000",
            "{picture}" => "crop-1-after",
            named if named.starts_with('{') => "sample",
            fixed => fixed,
        });
        let path = segments.collect::<Vec<_>>().join("/");
        let query = self.query.iter().map(|(name, value)| {
            let value = if name == "session_id" { session } else { value };
            format!("{name}={value}")
        });
        let query = query.collect::<Vec<_>>().join("&");
        let path = if query.is_empty() { path } else { format!("{path}?{query}") };
        let mut body = self.body.clone();
        if let Some(Value::Object(fields)) = &mut body {
            for (name, value) in fields {
                if name == "session_id" || *value == "{session}" {
                    *value = json!(session);
                }
            }
        }
        (path, body)
    }

    /// The reply of a fake guest to this action, if it is JSON: the sample, with fields copied from
    /// the request.
    pub fn answer(&self, asked: &Value) -> Option<Value> {
        let Reply::Json(sample) = &self.reply else { return None };
        let mut answer = sample.clone();
        if let Value::Object(fields) = &mut answer {
            for (name, value) in fields {
                if let Some(asked) = asked.get(name).filter(|asked| same_kind(asked, value)) {
                    *value = asked.clone();
                }
            }
        }
        Some(answer)
    }
}

fn of(document: &Value, path: &str, method: &str, row: &Value) -> Row {
    let id = row["operationId"].as_str().expect("an id").to_owned();
    let responses = row["responses"].as_object().expect("responses");
    let success = responses.iter().find_map(|(status, response)| {
        let status = status.parse().ok().filter(|status| (100..400).contains(status))?;
        Some((status, &response["content"]))
    });
    let (status, content) = success.unwrap_or_else(|| panic!("{id} documents a success"));
    let media = content.as_object();
    let reply = match media.map(|media| media.keys().cloned().collect::<Vec<_>>()) {
        None if status == 101 => Reply::Upgrade,
        None => Reply::Nothing,
        Some(types) if types.iter().any(|it| it == "application/json") => {
            Reply::Json(sample(document, &content["application/json"]["schema"]))
        }
        Some(types) => Reply::Bytes(types),
    };
    let parameters = row["parameters"].as_array().into_iter().flatten();
    let query = parameters.filter(|it| it["in"] == "query" && it["required"] == true).map(|it| {
        let value = sample(document, &it["schema"]);
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (it["name"].as_str().expect("a name").to_owned(), text)
    });
    Row {
        method: method.to_uppercase().parse().expect("a method"),
        path: path.to_owned(),
        scope: row["x-scope"].as_str().map(str::to_owned),
        status,
        reply,
        action: action(&id, path),
        query: query.collect(),
        body: body(document, &id, row),
        id,
    }
}

/// The name on the link, for paths below `/desktop/` and `/browser/`.
fn action(id: &str, path: &str) -> Option<String> {
    let name = id.strip_prefix("desktop_").unwrap_or(id);
    let acts = ["/api/v1/desktop/", "/api/v1/browser/"].iter().any(|at| path.starts_with(at));
    // The server performs these itself.
    let own = ["agent_status", "vnc_url", "await_visual_change", "compare_screenshots"];
    (acts && !own.contains(&name) && !name.starts_with("assert_")).then(|| name.to_owned())
}

fn body(document: &Value, id: &str, row: &Value) -> Option<Value> {
    let schema = row["requestBody"]["content"].get("application/json")?.get("schema")?;
    let mut body = sample(document, schema);
    aim(document, schema, &mut body);
    if let Some((_, known)) = BODIES.iter().find(|(known, _)| *known == id)
        && let Value::Object(fields) = &mut body
    {
        let known: Map<String, Value> = serde_json::from_str(known).expect("JSON");
        fields.extend(known);
    }
    Some(body)
}

/// Fills in where an action acts, which its schema leaves out because a target can replace it.
fn aim(document: &Value, schema: &Value, body: &mut Value) {
    let named = schema["$ref"].as_str().map(|name| name.trim_start_matches('#'));
    let schema = named.and_then(|pointer| document.pointer(pointer)).unwrap_or(schema);
    for name in schema["x-required-unless-target"].as_array().into_iter().flatten() {
        let name = name.as_str().expect("a name");
        body[name] = sample(document, &schema["properties"][name]);
    }
}

fn same_kind(a: &Value, b: &Value) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_request_and_actions_answer_with_what_was_asked() {
        for row in Row::all() {
            let (path, _) = row.request("sess-1");
            assert!(!path.contains('{'), "{path}");
        }
        let click = Row::of_action("click").unwrap();
        let (path, body) = click.request("sess-1");
        assert_eq!(
            (path.as_str(), &body.unwrap()["session_id"]),
            ("/api/v1/desktop/click", &json!("sess-1"))
        );
        let answer = click.answer(&json!({ "x": 3, "y": 4 })).unwrap();
        assert_eq!(
            (&answer["ok"], &answer["x"], &answer["y"]),
            (&json!(true), &json!(3), &json!(4))
        );
        let windows = Row::of_action("windows").unwrap();
        assert_eq!(windows.request("sess-1").0, "/api/v1/desktop/windows?session_id=sess-1");
        assert!(Row::of_action("browser_navigate").is_some());
    }
}
