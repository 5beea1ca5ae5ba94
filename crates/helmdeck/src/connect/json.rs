//! Changes one entry of a JSON file and keeps the rest: comments, order and layout.

use std::ops::Range;

use helmdeck_wire::connect::Format;
use serde::Serialize;
use serde_json::{Map, Value, ser::PrettyFormatter};

/// An object in a text: where its braces are, and what is between them.
struct Object {
    open: usize,
    close: usize,
    members: Vec<Member>,
}

struct Member {
    key: String,
    key_start: usize,
    value: Range<usize>,
}

/// A text with spaces in place of what JSON does not allow. Every other character stays where it is.
struct Plain {
    text: String,
    /// Where commas stood before a closing bracket.
    commas: Vec<usize>,
}

/// The text with this entry at these keys, whatever was there before.
pub fn put(text: &str, keys: &[&str], entry: &Value) -> Result<String, String> {
    let plain = Plain::of(text);
    if plain.text.trim().is_empty() {
        let start = if text.trim().is_empty() { "" } else { text };
        return Ok(format!("{start}{}", Format::Json.render(keys, entry)));
    }
    let before = parse(text)?;
    let changed = spliced(text, &plain, keys, entry).ok_or("its layout is not understood")??;
    let mut expected = before;
    set(&mut expected, keys, entry);
    // Never write a file that means something else.
    match parse(&changed) {
        Ok(after) if after == expected => Ok(changed),
        _ => Err("its layout is not understood".to_owned()),
    }
}

/// Whether there is an object at these keys.
pub fn has_object(text: &str, keys: &[&str]) -> bool {
    let value = parse(text).unwrap_or_default();
    keys.iter().try_fold(&value, |value, key| value.get(key)).is_some_and(Value::is_object)
}

fn parse(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(&Plain::of(text).text)
        .map_err(|error| format!("it is not valid JSON: {error}"))?;
    if value.is_object() { Ok(value) } else { Err("it is not a JSON object".to_owned()) }
}

fn set(value: &mut Value, keys: &[&str], entry: &Value) {
    let Some((first, rest)) = keys.split_first() else {
        *value = entry.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    if let Value::Object(object) = value {
        set(object.entry(*first).or_insert(Value::Null), rest, entry);
    }
}

/// The text with the entry. None if the scanner disagrees with the parser.
fn spliced(
    text: &str,
    plain: &Plain,
    keys: &[&str],
    entry: &Value,
) -> Option<Result<String, String>> {
    let mut open = plain.text.find('{')?;
    let unit = indent_unit(&plain.text, &object_at(&plain.text, open)?);
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    for (index, key) in keys.iter().enumerate() {
        let object = object_at(&plain.text, open)?;
        let depth = index + 1;
        let Some(member) = object.members.iter().rev().find(|member| member.key == *key) else {
            let value = nested(keys.get(depth..)?, entry);
            let value = pretty(&value, &unit, depth, newline);
            return inserted(text, plain, &object, key, &value, (&unit, depth, newline)).map(Ok);
        };
        if depth == keys.len() {
            let value = pretty(entry, &unit, depth, newline);
            let (before, after) = (text.get(..member.value.start)?, text.get(member.value.end..)?);
            return Some(Ok(format!("{before}{value}{after}")));
        }
        if !plain.text.get(member.value.clone())?.starts_with('{') {
            return Some(Err(format!("{:?} in it is not an object", member.key)));
        }
        open = member.value.start;
    }
    None
}

/// The text with one more member at the end of an object.
fn inserted(
    text: &str,
    plain: &Plain,
    object: &Object,
    key: &str,
    value: &str,
    (unit, depth, newline): (&str, usize, &str),
) -> Option<String> {
    let inside = text.get(object.open + 1..object.close)?;
    let tail = object.open + 1 + inside.trim_end().len();
    let member = format!("{newline}{}{}: {value}", unit.repeat(depth), Value::from(key));
    let space = text.get(tail..object.close)?;
    let end = if space.contains('\n') {
        String::new()
    } else {
        format!("{newline}{}", unit.repeat(depth - 1))
    };
    let before = match object.members.last() {
        None => text.get(..tail)?.to_owned(),
        Some(last) => {
            let (before, after) = (text.get(..last.value.end)?, text.get(last.value.end..tail)?);
            let has_comma = plain.commas.iter().any(|at| (last.value.end..tail).contains(at));
            let comma = if has_comma { "" } else { "," };
            format!("{before}{comma}{after}")
        }
    };
    Some(format!("{before}{member}{end}{}", text.get(tail..)?))
}

fn nested(keys: &[&str], entry: &Value) -> Value {
    keys.iter().rev().fold(entry.clone(), |inner, key| {
        Value::Object(Map::from_iter([((*key).to_owned(), inner)]))
    })
}

/// A value with the indentation of the text around it.
fn pretty(value: &Value, unit: &str, depth: usize, newline: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Values of ours can always be written.
    let _ = value.serialize(&mut serializer);
    let text = String::from_utf8(bytes).unwrap_or_default();
    text.replace('\n', &format!("{newline}{}", unit.repeat(depth)))
}

/// How the text is indented: as its first member is.
fn indent_unit(plain: &str, root: &Object) -> String {
    let before = root.members.first().and_then(|first| plain.get(..first.key_start));
    let line = before.and_then(|before| before.rsplit_once('\n')).map(|(_, line)| line);
    let blank = line.filter(|line| !line.is_empty() && line.trim().is_empty());
    blank.unwrap_or("  ").to_owned()
}

impl Plain {
    fn of(text: &str) -> Self {
        let mut plain = Vec::with_capacity(text.len());
        let mut commas = Vec::new();
        let mut bytes = text.strip_prefix('\u{feff}').unwrap_or(text).bytes().peekable();
        plain.resize(text.len() - bytes.len(), b' ');
        while let Some(byte) = bytes.next() {
            match (byte, bytes.peek()) {
                (b'"', _) => {
                    plain.push(byte);
                    let mut escaped = false;
                    for byte in bytes.by_ref() {
                        plain.push(byte);
                        if byte == b'"' && !escaped {
                            break;
                        }
                        escaped = byte == b'\\' && !escaped;
                    }
                }
                (b'/', Some(b'/')) => {
                    plain.push(b' ');
                    while let Some(byte) = bytes.next_if(|byte| *byte != b'\n') {
                        plain.push(blank(byte));
                    }
                }
                (b'/', Some(b'*')) => {
                    plain.extend([b' ', b' ']);
                    bytes.next();
                    let mut last = 0;
                    for byte in bytes.by_ref() {
                        plain.push(blank(byte));
                        if last == b'*' && byte == b'/' {
                            break;
                        }
                        last = byte;
                    }
                }
                (b'}' | b']', _) => {
                    let last = plain.iter().rposition(|byte| !byte.is_ascii_whitespace());
                    if let Some(at) = last
                        && let Some(last) = plain.get_mut(at).filter(|last| **last == b',')
                    {
                        *last = b' ';
                        commas.push(at);
                    }
                    plain.push(byte);
                }
                _ => plain.push(byte),
            }
        }
        Self { text: String::from_utf8(plain).unwrap_or_default(), commas }
    }
}

/// Line breaks stay in the text of a comment, so that errors name the right line.
fn blank(byte: u8) -> u8 {
    if byte == b'\n' || byte == b'\r' { byte } else { b' ' }
}

/// The object that begins at `open`, in a text that is valid JSON.
fn object_at(plain: &str, open: usize) -> Option<Object> {
    let mut members = Vec::new();
    let mut at = skip_space(plain, open + 1);
    while !plain.get(at..)?.starts_with('}') {
        let key_start = at;
        let key_end = value_end(plain, at)?;
        let key = serde_json::from_str(plain.get(at..key_end)?).ok()?;
        let colon = skip_space(plain, key_end);
        let start = skip_space(plain, colon + 1);
        let end = value_end(plain, start)?;
        members.push(Member { key, key_start, value: start..end });
        at = skip_space(plain, end);
        if plain.get(at..)?.starts_with(',') {
            at = skip_space(plain, at + 1);
        }
    }
    Some(Object { open, close: at, members })
}

fn skip_space(plain: &str, at: usize) -> usize {
    let rest = plain.get(at..).unwrap_or_default();
    at + rest.len() - rest.trim_start().len()
}

/// Where the value ends that begins here.
fn value_end(plain: &str, start: usize) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (offset, c) in plain.get(start..)?.char_indices() {
        let after = start + offset + c.len_utf8();
        if in_string {
            in_string = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            if !in_string && depth == 0 {
                return Some(after);
            }
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' | '[' => depth += 1,
            '}' | ']' if depth == 1 => return Some(after),
            '}' | ']' if depth > 1 => depth -= 1,
            ',' | '}' | ']' if depth == 0 => return Some(start + offset),
            c if depth == 0 && c.is_whitespace() => return Some(start + offset),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEYS: [&str; 2] = ["mcpServers", "helmdeck"];

    fn put_url(text: &str) -> Result<String, String> {
        put(text, &KEYS, &json!({ "url": "u" }))
    }

    #[test]
    fn a_file_that_is_missing_or_empty_is_made() {
        let made = put_url(" \n").unwrap();
        let value: Value = serde_json::from_str(&made).unwrap();
        assert_eq!(value, json!({ "mcpServers": { "helmdeck": { "url": "u" } } }));
    }

    #[test]
    fn other_settings_comments_order_and_layout_stay() {
        let text = "{\n    // my theme\n    \"theme\": \"dark\", /* yes, \"dark\" */\n    \
                    \"mcpServers\": {\n        \"git\": { \"command\": \"uvx\" } // keep, this\n    }\n}\n";
        let expected = "{\n    // my theme\n    \"theme\": \"dark\", /* yes, \"dark\" */\n    \
                        \"mcpServers\": {\n        \"git\": { \"command\": \"uvx\" }, // keep, this\n        \
                        \"helmdeck\": {\n            \"url\": \"u\"\n        }\n    }\n}\n";
        assert_eq!(put_url(text).unwrap(), expected);
        // A second time, there is nothing to change.
        assert_eq!(put_url(expected).unwrap(), expected);
    }

    #[test]
    fn an_entry_that_exists_is_replaced_as_a_whole() {
        let text = r#"{"mcpServers": {"helmdeck": {"url": "old", "headers": {"a": "}"}}, "b": 1}}"#;
        let changed = put_url(text).unwrap();
        let value: Value = serde_json::from_str(&changed).unwrap();
        assert_eq!(value, json!({ "mcpServers": { "helmdeck": { "url": "u" }, "b": 1 } }));
    }

    #[test]
    fn objects_on_one_line_empty_ones_and_commas_at_the_end_are_understood() {
        for text in [
            "{}",
            "{ }",
            "{\"a\": 1}",
            "{\"a\": 1,}",
            "{\"a\": [1, 2,], \"mcpServers\": {}}",
            "{\n\t\"a\": \"x\\\"y\",\n\t\"mcpServers\": {\n\t\t\"git\": {},\n\t},\n}\n",
            "{\r\n  \"a\": 1 // note, with a comma\r\n}\r\n",
            "\u{feff}{\"ä\": \"ö\"}",
            "{\"a\": 1 /* , */ }",
        ] {
            let before = parse(text).unwrap();
            let changed = put_url(text).unwrap_or_else(|why| panic!("{text:?}: {why}"));
            let mut after = parse(&changed).unwrap();
            let entry = after["mcpServers"].as_object_mut().unwrap().remove("helmdeck");
            assert_eq!(entry, Some(json!({ "url": "u" })), "{text:?}");
            if before.get("mcpServers").is_none() {
                after.as_object_mut().unwrap().remove("mcpServers");
            }
            assert_eq!(after, before, "{text:?} became {changed:?}");
        }
    }

    #[test]
    fn a_file_that_is_not_a_json_object_is_refused() {
        for text in ["{", "{\"a\": 1", "[]", "1", "{a: 1}", "{\"a\": 1} x", "nonsense"] {
            assert!(put_url(text).is_err(), "{text:?}");
        }
        let refused = put_url("{\"mcpServers\": []}").unwrap_err();
        assert!(refused.contains("mcpServers"), "{refused}");
    }

    #[test]
    fn objects_are_found_by_their_keys() {
        assert!(has_object("{\"mcp\": {\"servers\": {}}} // x", &["mcp", "servers"]));
        assert!(!has_object("{\"mcp\": {}}", &["mcp", "servers"]));
        assert!(!has_object("", &["mcp"]));
    }
}
