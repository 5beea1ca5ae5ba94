//! Input schemas in the subset of JSON Schema that all model vendors accept.
//!
//! Vendors refuse tools whose schemas have references, unions at the top, `null` types or formats that
//! they do not know. Validation does not use this form: the validator reads the full schema.

use serde_json::{Map, Value, json};

/// Deeper schemas than this are cut: a schema that refers to itself has no end.
const MAX_DEPTH: usize = 8;
/// The formats of strings that every vendor accepts.
const FORMATS: [&str; 1] = ["date-time"];
/// Keywords that are left out: some vendors refuse them, and models do not need them.
const DROPPED: [&str; 12] = [
    "$schema",
    "$defs",
    "title",
    "examples",
    "const",
    "not",
    "contentEncoding",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "propertyNames",
    "uniqueItems",
    "writeOnly",
];

/// The schema in portable form.
pub fn portable(schema: &Value) -> Map<String, Value> {
    let definitions = schema.get("$defs").cloned().unwrap_or_default();
    let mut portable = match rewrite(schema, &definitions, 0) {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    for union in ["anyOf", "oneOf", "allOf"] {
        portable.remove(union);
    }
    portable.insert("type".to_owned(), json!("object"));
    portable.entry("properties").or_insert(json!({}));
    portable.remove("description");
    portable
}

/// Limits of texts and lists, which a model seldom meets.
const LENGTHS: [&str; 5] = ["maxItems", "maxLength", "minItems", "minLength", "pattern"];
/// Limits from here on say nothing.
const LARGEST: f64 = u16::MAX as f64;

/// A portable schema without limits that a model seldom meets: the server enforces them, and its
/// errors name them. Of optional objects, it has the names and types of their fields. Defaults that
/// are false or empty are left out.
pub fn concise(mut schema: Map<String, Value>) -> Map<String, Value> {
    leave_out_limits(&mut schema);
    shorten_optional(&mut schema);
    schema
}

/// Shortens optional objects, also those inside required ones.
fn shorten_optional(schema: &mut Map<String, Value>) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (name, field) in
        schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
    {
        match field.as_object_mut().filter(|_| required.contains(&json!(name))) {
            Some(field) => shorten_optional(field),
            None => inner(field).into_iter().for_each(|field| keep_types(field, 1)),
        }
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        shorten_optional(items);
    }
}

fn leave_out_limits(schema: &mut Map<String, Value>) {
    schema.retain(|key, value| match key.as_str() {
        "additionalProperties" => value.is_object(),
        "maximum" => value.as_f64().is_some_and(|most| most < LARGEST),
        "minimum" => value.as_f64().is_some_and(|least| least != 0.0 && least > -LARGEST),
        // What is left out is false or empty.
        "default" => ![json!(false), json!({}), json!([]), json!("")].contains(value),
        key => !LENGTHS.contains(&key),
    });
    schemas_in(schema).into_iter().filter_map(Value::as_object_mut).for_each(leave_out_limits);
}

/// Leaves the types and values of a schema, down to this number of objects inside it.
fn keep_types(schema: &mut Value, depth: usize) {
    if let Value::Object(object) = schema {
        object.retain(|key, _| match key.as_str() {
            "type" | "enum" => true,
            "anyOf" | "items" => true,
            "properties" | "required" | "additionalProperties" => depth > 0,
            _ => false,
        });
    }
    inner(schema).into_iter().for_each(|schema| keep_types(schema, depth.saturating_sub(1)));
}

/// The schemas directly inside a schema.
fn inner(schema: &mut Value) -> Vec<&mut Value> {
    schema.as_object_mut().map(schemas_in).unwrap_or_default()
}

fn schemas_in(schema: &mut Map<String, Value>) -> Vec<&mut Value> {
    let inner = schema.iter_mut().flat_map(|(key, value)| match (key.as_str(), value) {
        ("properties", Value::Object(fields)) => fields.values_mut().collect(),
        ("anyOf", Value::Array(variants)) => variants.iter_mut().collect(),
        ("items" | "additionalProperties", value) => vec![value],
        _ => Vec::new(),
    });
    inner.collect()
}

/// Limits that the server enforces and answers clearly; a model seldom needs to read them.
const LIMITS: [&str; 8] = [
    "additionalProperties",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
];

/// A portable schema with as few words as possible, for clients that are shown little.
pub fn brief(mut schema: Map<String, Value>) -> Map<String, Value> {
    shorten(&mut schema, 0);
    schema
}

fn shorten(schema: &mut Map<String, Value>, depth: usize) {
    // A map with free keys is described by this keyword.
    let is_map = schema.get("additionalProperties").is_some_and(Value::is_object);
    schema.retain(|key, _| !LIMITS.contains(&key.as_str()) || (is_map && key.starts_with("add")));
    match schema.get_mut("description") {
        Some(Value::String(text)) if depth <= 1 => {
            let end = text.find(". ").map_or(text.len(), |at| at + 1);
            text.truncate(end);
        }
        _ => drop(schema.remove("description")),
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            shorten(property, depth + 1);
        }
    }
    if let Some(items) = schema.get_mut("items").and_then(Value::as_object_mut) {
        shorten(items, depth + 2);
    }
    for variant in schema.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(variant) = variant.as_object_mut() {
            shorten(variant, depth + 2);
        }
    }
}

/// A portable schema as clients declare it to models. Gemini knows no maps, and allows nothing beside
/// the alternatives of a union: the first of them gets the description.
pub fn declared(mut schema: Map<String, Value>) -> Map<String, Value> {
    declare(&mut schema);
    schema
}

fn declare(schema: &mut Map<String, Value>) {
    if let Some(Value::Object(values)) = schema.remove("additionalProperties")
        && let Some(Value::Object(fields)) = values.get("properties")
    {
        let names: Vec<_> = fields.keys().map(|name| format!("`{name}`")).collect();
        describe_more(schema, &format!("Each value is an object with {}.", names.join(", ")));
    }
    if schema.contains_key("anyOf") {
        let description = schema.remove("description");
        schema.retain(|key, _| key == "anyOf");
        let first = schema.get_mut("anyOf").and_then(|variants| variants.get_mut(0));
        if let (Some(Value::String(text)), Some(Value::Object(first))) = (description, first) {
            let own = first.insert("description".to_owned(), text.into());
            describe_more(first, own.as_ref().and_then(Value::as_str).unwrap_or_default());
        }
    }
    schemas_in(schema).into_iter().filter_map(Value::as_object_mut).for_each(declare);
}

/// Adds a sentence to the description.
fn describe_more(schema: &mut Map<String, Value>, more: &str) {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = format!("{text} {more}").trim().to_owned();
    schema.insert("description".to_owned(), text.into());
}

fn rewrite(schema: &Value, definitions: &Value, depth: usize) -> Value {
    let Value::Object(schema) = schema else { return json!({}) };
    if depth > MAX_DEPTH {
        return json!({ "type": "object" });
    }
    let mut schema = resolve(schema, definitions);
    merge_all_of(&mut schema, definitions);
    unwrap_nullable(&mut schema, definitions);
    if let Some(value) = schema.get("const").cloned() {
        schema.insert("enum".to_owned(), json!([value]));
    }
    schema.retain(|key, _| !DROPPED.contains(&key.as_str()) && !key.starts_with("x-"));
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !FORMATS.contains(&format)) {
        schema.remove("format");
    }
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            *property = rewrite(property, definitions, depth + 1);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(key).filter(|inner| inner.is_object()) {
            *inner = rewrite(inner, definitions, depth + 1);
        }
    }
    if schema.get("type") == Some(&json!("array")) {
        schema.entry("items").or_insert(json!({}));
        schema.remove("prefixItems");
    }
    rewrite_union(&mut schema, definitions, depth);
    Value::Object(schema)
}

/// Replaces a reference by what it refers to; what stands beside it wins.
fn resolve(schema: &Map<String, Value>, definitions: &Value) -> Map<String, Value> {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|path| definitions.get(path.rsplit('/').next()?));
    let Some(Value::Object(target)) = target else {
        let mut schema = schema.clone();
        schema.remove("$ref");
        return schema;
    };
    let mut merged = resolve(target, definitions);
    for (key, value) in schema.iter().filter(|(key, _)| *key != "$ref") {
        merged.insert(key.clone(), value.clone());
    }
    merged
}

fn merge_all_of(schema: &mut Map<String, Value>, definitions: &Value) {
    let Some(Value::Array(parts)) = schema.remove("allOf") else { return };
    for part in parts {
        let Value::Object(part) = part else { continue };
        for (key, value) in resolve(&part, definitions) {
            schema.entry(key).or_insert(value);
        }
    }
}

/// An optional field is left out, so that `null` need not be offered.
fn unwrap_nullable(schema: &mut Map<String, Value>, definitions: &Value) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        } else {
            let variants: Vec<_> = types.iter().map(|name| json!({ "type": name })).collect();
            schema.remove("type");
            schema.insert("anyOf".to_owned(), json!(variants));
        }
    }
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(mut variants)) = schema.remove(union) else { continue };
        variants.retain(|variant| variant.get("type") != Some(&json!("null")));
        match variants.as_slice() {
            [Value::Object(only)] => {
                for (key, value) in resolve(only, definitions) {
                    schema.entry(key).or_insert(value);
                }
                unwrap_nullable(schema, definitions);
            }
            _ => {
                schema.insert("anyOf".to_owned(), Value::Array(variants));
            }
        }
    }
}

fn rewrite_union(schema: &mut Map<String, Value>, definitions: &Value, depth: usize) {
    let Some(Value::Array(variants)) = schema.get_mut("anyOf") else { return };
    for variant in variants.iter_mut() {
        *variant = rewrite(variant, definitions, depth + 1);
    }
}

#[cfg(test)]
mod tests;
