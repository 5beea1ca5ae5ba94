//! Formats console arguments for people.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

/// The most stack lines shown for an error.
const STACK: usize = 4;
/// The most characters shown of a function.
const FUNCTION: usize = 60;
/// The deepest level of nested previews shown.
const DEPTH: usize = 3;

/// A JavaScript value of the page.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Remote {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    value: Value,
    unserializable_value: Option<String>,
    description: Option<String>,
    preview: Option<Preview>,
    object_id: Option<IgnoredAny>,
}

/// The browser's preview of an object.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Preview {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    description: Option<String>,
    overflow: bool,
    properties: Vec<Property>,
    entries: Vec<Entry>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Property {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    value: Option<String>,
    value_preview: Option<Preview>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    key: Option<Preview>,
    value: Preview,
}

impl Remote {
    /// Whether the browser holds the object for its debugging clients.
    pub fn is_held(&self) -> bool {
        self.object_id.is_some()
    }

    pub fn words(&self) -> String {
        match (&self.value, &self.unserializable_value) {
            (_, Some(value)) => return value.clone(),
            (Value::String(text), None) => return text.clone(),
            (Value::Null, None) => {}
            (value, None) => return value.to_string(),
        }
        let described = || self.description.clone().unwrap_or_default();
        match (self.kind.as_str(), self.subtype.as_deref()) {
            ("undefined", _) => "undefined".to_owned(),
            (_, Some("null")) => "null".to_owned(),
            ("function", _) => function(&described()),
            (_, Some("error")) => shortened(&described()),
            (_, Some("node")) => format!("<{}>", described()),
            _ => self.preview.as_ref().map_or_else(described, |preview| preview.words(DEPTH)),
        }
    }
}

impl Preview {
    fn words(&self, depth: usize) -> String {
        let described = self.description.as_deref().unwrap_or_default();
        match (self.kind.as_str(), self.subtype.as_deref()) {
            ("string", _) => return format!("'{described}'"),
            ("object", _) => {}
            ("function", _) => return function(described),
            _ => return described.to_owned(),
        }
        let more = self.overflow.then(|| "…".to_owned());
        match self.subtype.as_deref() {
            Some("array" | "typedarray") => {
                let numbered = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
                let items = self.properties.iter().map(|property| {
                    let value = property.words(depth);
                    let named = !numbered(&property.name);
                    if named { format!("{}: {value}", property.name) } else { value }
                });
                let items: Vec<_> = items.chain(more).collect();
                let class = if described.starts_with("Array(") { "" } else { described };
                format!("{class} [{}]", items.join(", ")).trim_start().to_owned()
            }
            Some("error") => shortened(described),
            Some("null" | "regexp" | "date") => described.to_owned(),
            Some("node") => format!("<{described}>"),
            _ => {
                // Apart from its entries, a collection has only a size.
                let fields = self
                    .properties
                    .iter()
                    .filter(|_| self.entries.is_empty())
                    .map(|property| format!("{}: {}", property.name, property.words(depth)));
                let entries = self.entries.iter().map(|entry| {
                    let value = entry.value.words(depth.saturating_sub(1));
                    match &entry.key {
                        Some(key) => format!("{} => {value}", key.words(depth.saturating_sub(1))),
                        None => value,
                    }
                });
                let all: Vec<_> = entries.chain(fields).chain(more).collect();
                let class = if described == "Object" { "" } else { described };
                format!("{class} {{{}}}", all.join(", ")).trim_start().to_owned()
            }
        }
    }
}

impl Property {
    fn words(&self, depth: usize) -> String {
        let value = self.value.as_deref().unwrap_or_default();
        match (self.kind.as_str(), &self.value_preview) {
            ("object", Some(preview)) if depth > 0 => preview.words(depth - 1),
            ("object", _) if value == "Object" => "{…}".to_owned(),
            ("string", _) => format!("'{value}'"),
            ("function", _) => "ƒ".to_owned(),
            ("accessor", _) => "(…)".to_owned(),
            _ => value.to_owned(),
        }
    }
}

/// The arguments of a call as one text. Format specifiers in the first are applied.
pub(super) fn said(arguments: &[Remote]) -> String {
    let mut rest = arguments.iter();
    let mut text = String::new();
    if let Some(Remote { value: Value::String(format), .. }) = arguments.first() {
        rest.next();
        text = formatted(format, &mut rest);
    }
    for argument in rest {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&argument.words());
    }
    text
}

fn formatted<'a>(format: &str, arguments: &mut impl Iterator<Item = &'a Remote>) -> String {
    let mut text = String::with_capacity(format.len());
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let kind = after.chars().next();
        let value = match kind {
            Some('%') => Some("%".to_owned()),
            Some('s' | 'd' | 'i' | 'f' | 'o' | 'O') => arguments.next().map(Remote::words),
            // A style, which has no effect on text.
            Some('c') => arguments.next().map(|_| String::new()),
            _ => None,
        };
        match value {
            Some(value) => {
                text.push_str(&value);
                rest = after.get(1..).unwrap_or_default();
            }
            None => {
                text.push('%');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

/// An error with the first lines of its stack.
pub(super) fn shortened(error: &str) -> String {
    let is_place = |line: &&str| line.trim_start().starts_with("at ");
    let places = error.lines().filter(is_place).count();
    if places <= STACK {
        return error.to_owned();
    }
    let mut left = STACK;
    let kept = error.lines().filter(|line| {
        let keep = !is_place(line) || left > 0;
        left = if is_place(line) { left.saturating_sub(1) } else { left };
        keep
    });
    let kept: Vec<_> = kept.collect();
    format!("{}\n    … {} more", kept.join("\n"), places - STACK)
}

fn function(source: &str) -> String {
    let head = source.lines().next().unwrap_or_default();
    let head = head.strip_prefix("function ").unwrap_or(head);
    let end = head.floor_char_boundary(FUNCTION);
    let more = if end < head.len() || source.contains('\n') { "…" } else { "" };
    format!("ƒ {}{more}", head.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(arguments: Value) -> String {
        said(&serde_json::from_value::<Vec<Remote>>(arguments).unwrap())
    }

    #[test]
    fn values_are_shown_as_they_are_written() {
        let text = read(json!([
            { "type": "string", "value": "a b" },
            { "type": "number", "value": 1.5 },
            { "type": "number", "unserializableValue": "NaN" },
            { "type": "bigint", "unserializableValue": "1n" },
            { "type": "boolean", "value": false },
            { "type": "undefined" },
            { "type": "object", "subtype": "null", "value": null },
            { "type": "symbol", "description": "Symbol(x)" },
            { "type": "function", "description": "function add(a, b) {\n  return a + b\n}" },
            { "type": "object", "subtype": "node", "description": "div#a.b" },
            { "type": "object", "description": "Object" },
        ]));
        let expected =
            "a b 1.5 NaN 1n false undefined null Symbol(x) ƒ add(a, b) {… <div#a.b> Object";
        assert_eq!(text, expected);
    }

    #[test]
    fn objects_are_shown_with_their_content() {
        let text = read(json!([
            { "type": "object", "preview": { "type": "object", "description": "Object",
                "overflow": true, "properties": [
                    { "name": "a", "type": "number", "value": "1" },
                    { "name": "b", "type": "string", "value": "x" },
                    { "name": "c", "type": "object", "value": "Object" },
                    { "name": "d", "type": "object", "subtype": "array", "value": "Array(2)" },
                    { "name": "e", "type": "function", "value": "" }] } },
            { "type": "object", "subtype": "array", "preview": { "type": "object",
                "subtype": "array", "description": "Array(2)", "overflow": false, "properties": [
                    { "name": "0", "type": "object", "value": "Point",
                      "valuePreview": { "type": "object", "description": "Point",
                        "overflow": false,
                        "properties": [{ "name": "x", "type": "number", "value": "3" }] } },
                    { "name": "1", "type": "object", "subtype": "null", "value": "null" }] } },
            { "type": "object", "subtype": "map", "preview": { "type": "object", "subtype": "map",
                "description": "Map(1)", "overflow": false, "properties": [], "entries": [
                    { "key": { "type": "string", "description": "k" },
                      "value": { "type": "number", "description": "2" } }] } },
        ]));
        let expected = "{a: 1, b: 'x', c: {…}, d: Array(2), e: ƒ, …} [Point {x: 3}, null] \
                        Map(1) {'k' => 2}";
        assert_eq!(text, expected);
    }

    #[test]
    fn formats_take_the_arguments_in_their_order() {
        let text = read(json!([
            { "type": "string", "value": "%cHi %s, 100%% of %d%q %s" },
            { "type": "string", "value": "color: red" },
            { "type": "string", "value": "Ada" },
            { "type": "number", "value": 7 },
        ]));
        assert_eq!(text, "Hi Ada, 100% of 7%q %s");
        assert_eq!(read(json!([{ "type": "string", "value": "50%" }])), "50%");
        assert_eq!(read(json!([])), "");
    }

    #[test]
    fn long_stacks_are_shortened() {
        let stack: String = (0..9).map(|n| format!("\n    at f{n} (a.js:{n}:1)")).collect();
        let text = shortened(&format!("Error: bad\nreally{stack}"));
        assert!(text.starts_with("Error: bad\nreally\n    at f0 "), "{text}");
        assert!(text.ends_with("at f3 (a.js:3:1)\n    … 5 more"), "{text}");
    }
}
