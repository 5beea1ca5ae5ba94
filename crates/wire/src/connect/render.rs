//! Entries as JSON, TOML and YAML.

use serde_json::{Map, Value};

use super::Format;

impl Format {
    /// Name of the language, for syntax highlighting.
    pub fn language(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Toml => "toml",
            Self::Yaml => "yaml",
        }
    }

    /// A file with only this entry.
    pub fn render(self, keys: &[&str], entry: &Value) -> String {
        match self {
            Self::Json => {
                let whole = keys.iter().rev().fold(entry.clone(), |inner, key| {
                    Value::Object(Map::from_iter([((*key).to_owned(), inner)]))
                });
                // Values of ours are always valid JSON.
                serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
            }
            Self::Toml => format!("[{}]\n{}", keys.join("."), toml_lines(entry)),
            Self::Yaml => {
                let mut text = String::new();
                for (depth, key) in keys.iter().enumerate() {
                    text += &format!("{}{key}:\n", "  ".repeat(depth));
                }
                text + &yaml_lines(entry, keys.len())
            }
        }
    }
}

/// The fields of an entry, one line each.
pub(crate) fn toml_lines(entry: &Value) -> String {
    fields(entry).map(|(name, value)| format!("{name} = {}\n", toml_value(value))).collect()
}

fn toml_value(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let pairs = map.iter().map(|(name, value)| format!("{name} = {}", toml_value(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", "))
        }
        // Strings of ours have no characters that TOML escapes otherwise than JSON.
        other => other.to_string(),
    }
}

/// The fields of an entry, indented. A JSON string is a YAML string in double quotes.
pub(crate) fn yaml_lines(entry: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let line = |(name, value): (&String, &Value)| match value {
        Value::Object(_) => format!("{indent}{name}:\n{}", yaml_lines(value, depth + 1)),
        other => format!("{indent}{name}: {other}\n"),
    };
    fields(entry).map(line).collect()
}

fn fields(entry: &Value) -> impl Iterator<Item = (&String, &Value)> {
    entry.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_written_in_each_format() {
        let entry = json!({ "url": "u", "headers": { "Authorization": "Bearer t" }, "n": 5 });
        let keys = ["mcp_servers", "helmdeck"];
        assert_eq!(
            Format::Toml.render(&keys, &entry),
            "[mcp_servers.helmdeck]\nheaders = { Authorization = \"Bearer t\" }\nn = 5\nurl = \"u\"\n"
        );
        assert_eq!(
            Format::Yaml.render(&keys, &entry),
            "mcp_servers:\n  helmdeck:\n    headers:\n      Authorization: \"Bearer t\"\n    n: 5\n    \
             url: \"u\"\n"
        );
        let json: Value = serde_json::from_str(&Format::Json.render(&keys, &entry)).unwrap();
        assert_eq!(json, json!({ "mcp_servers": { "helmdeck": entry } }));
    }
}
