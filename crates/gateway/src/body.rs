//! The body of a request as bytes and as JSON.
//!
//! Bodies that pass through keep their bytes, except for the fields that are set. Bodies that are
//! translated keep the order of properties in schemas: models write structured answers in that order,
//! and our JSON maps are sorted.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

use crate::Invalid;

/// Fields that hold tools and formats.
const WITH_SCHEMAS: [&str; 4] = ["tools", "response_format", "text", "output_config"];
/// Names of the schemas in them.
const SCHEMAS: [&str; 3] = ["parameters", "input_schema", "schema"];

/// An object whose fields are not parsed.
#[derive(Debug, Clone)]
pub struct Body {
    fields: Vec<(String, Box<RawValue>)>,
}

impl Body {
    /// Reads an object. Of a field that is there twice, the last counts.
    pub fn parse(bytes: &[u8]) -> Result<Self, Invalid> {
        let not_json = |error: serde_json::Error| {
            Invalid::new("", format!("the body is not a JSON object: {error}"))
        };
        let Fields(fields) = serde_json::from_slice(bytes).map_err(not_json)?;
        Ok(Self { fields })
    }

    /// A field as text.
    pub fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// A field as a value.
    pub fn value(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// Whether a field is true.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.get() == "true")
    }

    fn get(&self, name: &str) -> Option<&RawValue> {
        self.fields.iter().rev().find(|(field, _)| field == name).map(|(_, value)| &**value)
    }

    /// Sets a field, and leaves all others as they are.
    pub fn set(&mut self, name: &str, value: &Value) {
        let Ok(raw) = RawValue::from_string(value.to_string()) else { return };
        let place = self.fields.iter().position(|(field, _)| field == name);
        match place.and_then(|at| self.fields.get_mut(at)) {
            Some((_, old)) => *old = raw,
            None => self.fields.push((name.to_owned(), raw)),
        }
    }

    /// Removes a field.
    pub fn remove(&mut self, name: &str) {
        self.fields.retain(|(field, _)| field != name);
    }

    /// The bytes to send.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = String::from("{");
        for (at, (name, value)) in self.fields.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(&Value::from(name.as_str()).to_string());
            out.push(':');
            out.push_str(value.get());
        }
        out.push('}');
        out.into_bytes()
    }

    /// The whole body as a value, with marks in place of schemas.
    pub fn marked(&self, salt: u64) -> Result<(Value, Schemas), Invalid> {
        let mut schemas = Schemas { salt, raw: Vec::new() };
        let mut map = Map::new();
        for (name, raw) in &self.fields {
            let read = match WITH_SCHEMAS.contains(&name.as_str()) {
                true => {
                    let mut input = serde_json::Deserializer::from_str(raw.get());
                    Marking(&mut schemas).deserialize(&mut input)
                }
                false => serde_json::from_str(raw.get()),
            };
            let value = read.map_err(|error| Invalid::new(name, error.to_string()))?;
            map.insert(name.clone(), value);
        }
        Ok((Value::Object(map), schemas))
    }
}

/// Schemas that marks stand for.
#[derive(Debug)]
pub struct Schemas {
    /// Random, so that no text of a client is a mark.
    salt: u64,
    raw: Vec<Box<RawValue>>,
}

impl Schemas {
    fn mark(&self, number: usize) -> String {
        format!("schema-{number}-{:016x}", self.salt)
    }

    /// Writes a value, with the schemas in place of their marks.
    pub fn write(&self, value: &Value) -> Vec<u8> {
        let mut text = value.to_string();
        for (number, raw) in self.raw.iter().enumerate() {
            text = text.replace(&format!("\"{}\"", self.mark(number)), raw.get());
        }
        text.into_bytes()
    }
}

struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;

        impl<'de> Visitor<'de> for Reads {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Reads)
    }
}

/// Reads a value, and takes schemas out of it.
struct Marking<'a>(&'a mut Schemas);

impl<'de> DeserializeSeed<'de> for Marking<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Marking<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Marking(&mut *self.0))? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let value = match SCHEMAS.contains(&name.as_str()) {
                false => fields.next_value_seed(Marking(&mut *self.0))?,
                true => {
                    let raw: Box<RawValue> = fields.next_value()?;
                    match raw.get().starts_with('{') {
                        true => {
                            let mark = self.0.mark(self.0.raw.len());
                            self.0.raw.push(raw);
                            Value::String(mark)
                        }
                        false => serde_json::from_str(raw.get()).unwrap_or_default(),
                    }
                }
            };
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Family, chat::Quirks, family::Target};

    #[test]
    fn only_the_fields_that_are_set_change() {
        let text = r#"{"z": 1.50, "model": "openai/gpt-4o",  "b": {"y":1, "x":[ 2]}}"#;
        let mut body = Body::parse(text.as_bytes()).unwrap();
        assert_eq!(body.text("model").as_deref(), Some("openai/gpt-4o"));
        body.set("model", &json!("gpt-4o"));
        body.set("stream_options", &json!({ "include_usage": true }));
        let expected = r#"{"z":1.50,"model":"gpt-4o","b":{"y":1, "x":[ 2]},"stream_options":{"include_usage":true}}"#;
        assert_eq!(String::from_utf8(body.bytes()).unwrap(), expected);
        assert!(Body::parse(b"[1]").is_err() && Body::parse(b"{").is_err());
    }

    #[test]
    fn a_translated_schema_keeps_the_order_of_its_properties() {
        let schema = r#"{"type":"object","properties":{"why":{"type":"string"},"answer":{"type":"string"}}}"#;
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":"hi"}}],"tools":[{{"type":"function","function":{{"name":"f","parameters":{schema}}}}}],"response_format":{{"type":"json_schema","json_schema":{{"name":"a","schema":{schema}}}}}}}"#
        );
        let (value, schemas) = Body::parse(body.as_bytes()).unwrap().marked(7).unwrap();
        let request = Family::Chat.read_request(&value).unwrap();
        let quirks = Quirks::default();
        for family in [Family::Chat, Family::Responses, Family::Messages, Family::Gemini] {
            let to = Target { model: "m", max_output: None, quirks };
            let written = schemas.write(&family.write_request(&request, to).unwrap());
            let written = String::from_utf8(written).unwrap();
            assert_eq!(written.matches(schema).count(), 2, "{family:?}: {written}");
            assert!(!written.contains("schema-0-"), "{written}");
        }
    }
}
