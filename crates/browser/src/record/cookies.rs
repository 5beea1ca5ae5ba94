//! Cookies from headers, in HAR format.

use serde_json::{Map, Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc2822};

use super::{har::date, headers::Headers, secrets::cookie as told};

/// The cookies that were sent.
pub(super) fn sent(headers: &Headers, secrets: bool) -> Vec<Value> {
    let pairs = headers.get("cookie").unwrap_or_default().split(';').filter_map(pair);
    pairs.map(|(name, value)| json!({ "name": name, "value": told(value, secrets) })).collect()
}

/// The cookies that were set.
pub(super) fn set(headers: &Headers, secrets: bool) -> Vec<Value> {
    let lines = headers.get("set-cookie").unwrap_or_default().split('\n');
    lines.filter_map(|line| one(line, secrets)).collect()
}

fn one(line: &str, secrets: bool) -> Option<Value> {
    let mut parts = line.split(';');
    let (name, value) = pair(parts.next()?)?;
    let mut cookie = Map::new();
    cookie.insert("name".to_owned(), json!(name));
    cookie.insert("value".to_owned(), json!(told(value, secrets)));
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        let (key, value) = match name.trim().to_ascii_lowercase().as_str() {
            "path" => ("path", json!(value)),
            "domain" => ("domain", json!(value)),
            "httponly" => ("httpOnly", json!(true)),
            "secure" => ("secure", json!(true)),
            "samesite" => ("sameSite", json!(value)),
            "expires" => match OffsetDateTime::parse(value, &Rfc2822) {
                Ok(at) => ("expires", json!(date(at))),
                Err(_) => continue,
            },
            _ => continue,
        };
        cookie.insert(key.to_owned(), value);
    }
    Some(Value::Object(cookie))
}

fn pair(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let (name, value) = text.split_once('=').unwrap_or(("", text));
    (!text.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_read_from_their_headers() {
        let headers = Headers(vec![
            ("Cookie".into(), "a=1; b=x=y".into()),
            (
                "Set-Cookie".into(),
                "s=secret; Path=/; Secure; HttpOnly; SameSite=Lax; \
                 Expires=Wed, 21 Oct 2026 07:28:00 GMT\nt=2"
                    .into(),
            ),
        ]);
        let expected = json!([{ "name": "a", "value": "1" }, { "name": "b", "value": "x=y" }]);
        assert_eq!(Value::from(sent(&headers, true)), expected);
        assert_eq!(sent(&headers, false)[1]["value"], "•••");
        let expected = json!([
            { "name": "s", "value": "•••", "path": "/", "secure": true, "httpOnly": true,
              "sameSite": "Lax", "expires": "2026-10-21T07:28:00.000Z" },
            { "name": "t", "value": "•••" },
        ]);
        assert_eq!(Value::from(set(&headers, false)), expected);
        assert_eq!(set(&headers, true)[0]["value"], "secret");
        assert!(sent(&Headers::default(), true).is_empty());
    }
}
