//! The rules of vendors for the schemas of tools.

use helmdeck_testkit::{FakeVendors, fake::FakeServer};
use serde_json::{Value, json};

use super::client::McpClient;
use crate::models;

/// The keywords that each vendor publishes for the schemas of tools. Gemini refuses a whole request for
/// one that it does not know; the others allow JSON Schema, of which we use these.
const KEYWORDS: [(&str, &[&str]); 4] = [
    ("OpenAI", &JSON_SCHEMA),
    ("Anthropic", &JSON_SCHEMA),
    ("VS Code", &JSON_SCHEMA),
    ("Gemini", &GEMINI),
];
const JSON_SCHEMA: [&str; 20] = [
    "additionalProperties",
    "anyOf",
    "default",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];
const GEMINI: [&str; 22] = [
    "anyOf",
    "default",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
];

/// The rules that vendors publish for the schemas of tools.
fn check_schema(name: &str, schema: &Value, top: bool) {
    let object = schema.as_object().unwrap_or_else(|| panic!("{name}: {schema}"));
    for (vendor, known) in KEYWORDS {
        let unknown: Vec<_> = object.keys().filter(|key| !known.contains(&key.as_str())).collect();
        assert!(unknown.is_empty(), "{name}: {vendor} refuses {unknown:?}");
    }
    // Gemini wants either a type, or a union and nothing beside it.
    assert!(object.contains_key("type") != object.contains_key("anyOf"), "{name}: {schema}");
    assert!(!object.contains_key("anyOf") || object.len() == 1, "{name}: {schema}");
    let format = object.get("format").and_then(Value::as_str);
    assert!(format.is_none_or(|it| ["date-time", "enum"].contains(&it)), "{name}: {format:?}");
    if top {
        assert_eq!(object["type"], "object", "{name}");
        assert!(!object.contains_key("anyOf"), "{name}");
    }
    assert!(object.get("type").is_none_or(Value::is_string), "{name}: {schema}");
    if object.get("type") == Some(&json!("array")) {
        assert!(object.contains_key("items"), "{name}: an array without items");
    }
    let values = object.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    assert!(values.iter().all(Value::is_string) || values.is_empty(), "{name}: {schema}");
    let properties = object.get("properties").and_then(Value::as_object);
    for required in object.get("required").and_then(Value::as_array).into_iter().flatten() {
        let known = properties.is_some_and(|it| it.contains_key(required.as_str().unwrap()));
        assert!(known, "{name}: {required} is required and unknown");
    }
    for (field, inner) in properties.into_iter().flatten() {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(field.len() <= 64 && field.chars().all(plain), "{name}: {field}");
        check_schema(&format!("{name}.{field}"), inner, false);
    }
    if let Some(inner) = object.get("items") {
        check_schema(&format!("{name}[]"), inner, false);
    }
    for variant in object.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        check_schema(&format!("{name}|"), variant, false);
    }
}

/// Checks what a token with these scopes lists in every profile. Returns the names of all tools.
async fn check_listings(server: &FakeServer, scopes: &str) -> Vec<String> {
    let mut all = Vec::new();
    for profile in ["all", "core", "browser", "desktop", "code"] {
        let client = McpClient::modern(server.address, server.token("root", scopes));
        let tools = client.at(&format!("/mcp?profile={profile}")).tools().await;
        // OpenAI refuses more in one request, and VS Code more in one conversation.
        assert!(profile == "all" || tools.len() <= 128, "{profile}: {} tools", tools.len());
        for tool in tools {
            let name = tool["name"].as_str().unwrap();
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            // Clients put a prefix before the name, and vendors allow 64 characters in all.
            assert!(name.len() <= 40 && name.chars().all(plain), "{name}");
            assert!(tool["description"].as_str().unwrap().len() <= 1024, "{name}: description");
            check_schema(name, &tool["inputSchema"], true);
            if let Some(output) = tool.get("outputSchema") {
                assert_eq!(output["type"], "object", "{name}");
            }
            all.push(name.to_owned());
        }
    }
    all
}

#[tokio::test]
async fn every_schema_is_accepted_by_openai_gemini_anthropic_and_vs_code() {
    let server = FakeServer::start().await;
    check_listings(&server, "admin").await;
    // Tools that need a model are listed if there is one.
    let vendors = FakeVendors::start().await;
    let with_model = models::server(&vendors, &["openai"], &[]).await;
    let listed = check_listings(&with_model, "sessions:*,models:use").await;
    assert!(listed.iter().any(|name| name == "vision-act"), "{listed:?}");
}
