//! The OpenAPI document, and its snapshot in the repository.

use std::{fs, path::Path};

use serde_json::{Map, Value, json};

use crate::client::TestServer;

#[tokio::test]
async fn the_document_is_the_one_in_the_repository() {
    let server = TestServer::start().await;
    let answer = server.get("/api/v1/openapi.json", "").await;
    assert_eq!(answer.header("content-type"), "application/json");
    let served = answer.json();

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::env::var_os("HELMDECK_UPDATE_SNAPSHOTS").is_some() {
        let text = serde_json::to_string_pretty(&served).unwrap();
        fs::write(&path, text + "\n").unwrap();
    }
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(&path).unwrap_or_default()).unwrap_or_default();
    assert!(
        served == kept,
        "the API changed: look at the difference after HELMDECK_UPDATE_SNAPSHOTS=1 cargo nextest \
         run -p helmdeck-server openapi, and commit docs/openapi.json"
    );
}

#[tokio::test]
async fn the_document_lists_every_operation_with_its_errors() {
    let server = TestServer::start().await;
    let document = server.get("/api/v1/openapi.json", "").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    for operation in helmdeck_server::operations().iter().filter(|one| one.documented) {
        let method = operation.method.as_str().to_ascii_lowercase();
        let path = operation.path.replace("{*", "{");
        let described = &document["paths"][path][method];
        assert_eq!(described["operationId"], operation.id.as_str(), "{}", operation.path);
        for failures in ["4XX", "5XX"] {
            let error = &described["responses"][failures]["$ref"];
            assert_eq!(error, "#/components/responses/Error", "{}", operation.id);
        }
    }
}

/// Every JSON object in the document with its path.
fn objects<'a>(value: &'a Value, place: &str, found: &mut Vec<(String, &'a Map<String, Value>)>) {
    match value {
        Value::Object(object) => {
            found.push((place.to_owned(), object));
            object.iter().for_each(|(key, value)| objects(value, &format!("{place}/{key}"), found));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(item, &format!("{place}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn enums_are_enums_and_any_value_is_an_object_so_that_generators_accept_them() {
    let server = TestServer::start().await;
    let document = server.get("/api/v1/openapi.json", "").await.json();
    let mut found = Vec::new();
    objects(&document, "", &mut found);
    let (mut enums, mut wrong) = (0, Vec::new());
    for (place, object) in found {
        enums += usize::from(object.contains_key("enum"));
        let variants = object.get("oneOf").and_then(Value::as_array).map(Vec::as_slice);
        if variants.unwrap_or_default().iter().any(|variant| variant.get("const").is_some()) {
            wrong.push(format!("{place}: oneOf of const"));
        }
        if object.contains_key("*/*") {
            wrong.push(format!("{place}: a media type that generators do not know"));
        }
        let bare = ["schema", "items", "additionalProperties"];
        let bare = bare.iter().filter(|key| object.get(**key) == Some(&Value::Bool(true)));
        wrong.extend(bare.map(|key| format!("{place}/{key}: bare `true`")));
        let properties = object.get("properties").and_then(Value::as_object);
        let bare = properties.into_iter().flatten().filter(|(_, schema)| schema.is_boolean());
        wrong.extend(bare.map(|(name, _)| format!("{place}/properties/{name}: bare boolean")));
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let numbered = schemas.keys().filter(|name| name.ends_with(|last: char| last.is_ascii_digit()));
    wrong.extend(numbered.map(|name| format!("{name}: two types have the same name")));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(enums > 20, "{enums}");
}

#[tokio::test]
async fn every_operation_has_a_summary_and_a_tag_that_is_described() {
    let server = TestServer::start().await;
    let document = server.get("/api/v1/openapi.json", "").await.json();
    let slashes = document["paths"].as_object().unwrap().keys();
    assert!(slashes.into_iter().all(|path| path == "/" || !path.ends_with('/')));
    let tags: Vec<_> =
        document["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
    for operation in described(&document) {
        let id = &operation["operationId"];
        let summary = operation["summary"].as_str().unwrap_or_default();
        assert!(!summary.is_empty() && !summary.contains('\n'), "{id}: {summary:?}");
        let of = operation["tags"].as_array().unwrap();
        assert!(!of.is_empty() && of.iter().all(|tag| tags.contains(&tag)), "{id}: {of:?}");
    }
}

#[tokio::test]
async fn bodies_of_bytes_are_binary_and_query_parameters_are_never_null() {
    let server = TestServer::start().await;
    let document = server.get("/api/v1/openapi.json", "").await.json();
    let binary = json!({ "type": "string", "format": "binary" });
    let screenshot = &document["paths"]["/api/v1/desktop/screenshot"]["post"];
    for media_type in ["image/png", "image/webp", "image/jpeg"] {
        assert_eq!(screenshot["responses"]["200"]["content"][media_type]["schema"], binary);
    }
    let upload = &document["paths"]["/api/v1/sessions/{id}/files/{path}"]["put"]["requestBody"];
    assert_eq!(upload["content"]["application/octet-stream"]["schema"], binary);
    for operation in described(&document) {
        for parameter in operation["parameters"].as_array().unwrap() {
            let schema = parameter["schema"].to_string();
            assert!(!schema.contains("null"), "{}: {schema}", operation["operationId"]);
        }
    }
}

#[tokio::test]
async fn path_parameters_have_the_schemas_of_their_fields() {
    let server = TestServer::start().await;
    let document = server.get("/api/v1/openapi.json", "").await.json();
    let schema = |path: &str, name: &str| {
        let parameters = document["paths"][path]["delete"]["parameters"].as_array().unwrap();
        parameters.iter().find(|parameter| parameter["name"] == name).unwrap()["schema"].clone()
    };
    let port = schema("/api/v1/sessions/{id}/forwards/{port}", "port");
    assert_eq!((&port["type"], &port["maximum"]), (&json!("integer"), &json!(65535)));
    let extension = schema("/api/v1/extensions/{name}", "name");
    assert_eq!(extension["$ref"], "#/components/schemas/ExtensionName");
}

#[tokio::test]
async fn a_response_that_can_be_streamed_is_also_documented_as_an_event_stream() {
    let server = TestServer::start().await;
    let document = server.get("/api/v1/openapi.json", "").await.json();
    let exec = &document["paths"]["/api/v1/sessions/{id}/exec"]["post"]["responses"]["200"];
    let types: Vec<_> = exec["content"].as_object().unwrap().keys().collect();
    assert_eq!(types, ["application/json", "text/event-stream"]);
}

#[tokio::test]
async fn every_tool_describes_its_surface() {
    let server = TestServer::start().await;
    let document = server.get("/api/v1/openapi.json", "").await.json();
    let mut tools = 0;
    for operation in described(&document) {
        let id = operation["operationId"].as_str().unwrap();
        let doc = operation["description"].as_str().unwrap();
        let desktop = operation["tags"][0] == "desktop";
        if desktop || operation["tags"][0] == "browser" {
            tools += 1;
            assert_eq!(doc.matches("VISIBLE").count(), 1, "{id}: {doc}");
            assert_eq!(doc.contains("HEADLESS"), !desktop, "{id}: {doc}");
        }
    }
    assert!(tools >= 45, "{tools}");
}

/// Every operation of the document.
fn described(document: &Value) -> impl Iterator<Item = &Value> {
    let paths = document["paths"].as_object().unwrap().values();
    paths.flat_map(|methods| methods.as_object().unwrap().values())
}
