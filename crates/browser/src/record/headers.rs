//! Headers of requests and answers.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, json};

use super::{cut, secrets::header};

/// The most bytes of a value, and the most headers.
pub(super) const MAX_VALUE: usize = 8 << 10;
const MAX_HEADERS: usize = 200;

/// Names and values. A repeated header has one entry for each occurrence.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Headers(pub Vec<(Box<str>, Box<str>)>);

impl Headers {
    /// The value of a header; names are case-insensitive.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| &**value)
    }

    /// Their size in bytes.
    pub fn size(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.len() + 32).sum()
    }

    /// In HAR format: one entry for each occurrence.
    pub fn har(&self, secrets: bool) -> Vec<Value> {
        let lines = self.0.iter().flat_map(|(name, value)| {
            value.split('\n').map(move |line| (name, header(name, line, secrets)))
        });
        lines.map(|(name, value)| json!({ "name": name, "value": value })).collect()
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("headers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = Vec::with_capacity(map.size_hint().unwrap_or(16).min(64));
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    if headers.len() < MAX_HEADERS {
                        headers.push((cut(&name, MAX_VALUE).into(), cut(&value, MAX_VALUE).into()));
                    }
                }
                Ok(Headers(headers))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_headers_are_all_shown() {
        let headers: Headers =
            serde_json::from_str(r#"{"Vary":"a\nb","Content-Type":"text/html"}"#).unwrap();
        assert_eq!(headers.get("content-type"), Some("text/html"));
        let expected = json!([
            { "name": "Vary", "value": "a" },
            { "name": "Vary", "value": "b" },
            { "name": "Content-Type", "value": "text/html" },
        ]);
        assert_eq!(Value::from(headers.har(false)), expected);
    }
}
