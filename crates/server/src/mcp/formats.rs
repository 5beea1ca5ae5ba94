//! Formats that JSON Schema does not define. The validators of clients warn about each of them.

use serde_json::Value;

const SIZES_OF_NUMBERS: [&str; 4] = ["uint", "int", "float", "double"];

/// Removes the sizes of numbers from a schema; their limits are in other keywords.
pub fn remove_sizes(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let format = object.get("format").and_then(Value::as_str);
            if format.is_some_and(|it| SIZES_OF_NUMBERS.iter().any(|size| it.starts_with(size))) {
                object.remove("format");
            }
            object.values_mut().for_each(remove_sizes);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_sizes),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sizes_are_removed_and_all_else_stays() {
        let mut schema = json!({ "properties": {
            "n": { "type": "integer", "format": "uint64" },
            "list": { "type": "array", "items": { "anyOf": [{ "type": "number", "format": "float" }] } },
            "at": { "type": "string", "format": "date-time" },
            "format": { "type": "string" },
        } });
        remove_sizes(&mut schema);
        assert_eq!(
            schema,
            json!({ "properties": {
                "n": { "type": "integer" },
                "list": { "type": "array", "items": { "anyOf": [{ "type": "number" }] } },
                "at": { "type": "string", "format": "date-time" },
                "format": { "type": "string" },
            } })
        );
    }
}
