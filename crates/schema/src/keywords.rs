//! The supported schema keywords: enforced ones, and descriptive ones.

use std::collections::HashMap;

use regex_lite::Regex;
use serde_json::Value;

use crate::SchemaError;

/// Keywords that [`crate::check`] enforces and that contain no schema.
const ENFORCED: [&str; 16] = [
    "$ref",
    "type",
    "required",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "maxProperties",
    "uniqueItems",
    "pattern",
];
/// Keywords that only describe a value.
const DESCRIBING: [&str; 12] = [
    "$schema",
    "$id",
    "title",
    "description",
    "default",
    "examples",
    "format",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
];

/// Checks all keywords and returns the patterns, compiled.
pub fn inspect(root: &Value) -> Result<HashMap<String, Regex>, SchemaError> {
    let mut patterns = HashMap::new();
    schema(root, root, "", &mut patterns)?;
    Ok(patterns)
}

fn schema(
    root: &Value,
    value: &Value,
    place: &str,
    patterns: &mut HashMap<String, Regex>,
) -> Result<(), SchemaError> {
    // `true` and `false` are schemas, too.
    let Some(object) = value.as_object() else { return Ok(()) };
    for (keyword, value) in object {
        let inside = format!("{place}/{keyword}");
        match keyword.as_str() {
            "properties" | "$defs" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    schema(root, value, &format!("{inside}/{name}"), patterns)?;
                }
            }
            "items" | "additionalProperties" | "propertyNames" => {
                schema(root, value, &inside, patterns)?
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                    schema(root, value, &format!("{inside}/{index}"), patterns)?;
                }
            }
            "pattern" => {
                let pattern = value.as_str().unwrap_or_default();
                let compiled = Regex::new(pattern).map_err(|_| SchemaError::Pattern {
                    place: place.to_owned(),
                    pattern: pattern.to_owned(),
                })?;
                patterns.insert(pattern.to_owned(), compiled);
            }
            "$ref" => {
                let reference = value.as_str().unwrap_or_default();
                let target = reference.strip_prefix('#').and_then(|target| root.pointer(target));
                let (place, reference) = (place.to_owned(), reference.to_owned());
                match target {
                    None => return Err(SchemaError::Reference { place, reference }),
                    Some(target) if leads_back(root, target, &mut vec![target]) => {
                        return Err(SchemaError::Cycle { place, reference });
                    }
                    Some(_) => {}
                }
            }
            known if ENFORCED.contains(&known) || DESCRIBING.contains(&known) => {}
            ours if ours.starts_with("x-") => {}
            unknown => {
                let (place, keyword) = (place.to_owned(), unknown.to_owned());
                return Err(SchemaError::Keyword { place, keyword });
            }
        }
    }
    Ok(())
}

/// Whether the check of one value against a schema would not end. `above` are the schemas that refer
/// to it for the same value.
fn leads_back<'a>(root: &'a Value, schema: &'a Value, above: &mut Vec<&'a Value>) -> bool {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|it| it.strip_prefix('#')).and_then(|it| root.pointer(it));
    let forms = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|name| schema.get(name));
    let forms = forms.filter_map(Value::as_array).flatten();
    for next in target.into_iter().chain(forms) {
        if above.iter().any(|it| std::ptr::eq(*it, next)) {
            return true;
        }
        above.push(next);
        let leads_back = leads_back(root, next, above);
        above.pop();
        if leads_back {
            return true;
        }
    }
    false
}
