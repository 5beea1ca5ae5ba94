//! Reads JSON of vendors, field by field.

use serde_json::{Map, Value};

use crate::Invalid;

/// A field of an object, unless it is null.
pub fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|value| !value.is_null())
}

/// A field that is text.
pub fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// A field that is text, or nothing.
pub fn owned(value: &Value, name: &str) -> String {
    text(value, name).unwrap_or_default().to_owned()
}

/// A field that is a whole number, or 0.
pub fn count(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// A field that is a list, or nothing.
pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// What a request asks for. Taking a field marks it as understood; the rest is reported as ignored.
pub struct Fields {
    map: Map<String, Value>,
}

impl Fields {
    /// The fields of a body. Null stands for a missing field.
    pub fn of(body: &Value) -> Result<Self, Invalid> {
        let Value::Object(map) = body else {
            return Err(Invalid::new("", "the body is not a JSON object"));
        };
        let known = map.iter().filter(|(_, value)| !value.is_null());
        Ok(Self { map: known.map(|(name, value)| (name.clone(), value.clone())).collect() })
    }

    /// Takes a field.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name)
    }

    /// Takes a field that has to be text.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Invalid> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Invalid::new(name, "expected a string")),
        }
    }

    /// Takes a field that has to be true or false.
    pub fn flag(&mut self, name: &str) -> Result<Option<bool>, Invalid> {
        let flag = |value: Value| {
            value.as_bool().ok_or_else(|| Invalid::new(name, "expected true or false"))
        };
        self.take(name).map(flag).transpose()
    }

    /// Takes a field that has to be a whole number.
    pub fn count(&mut self, name: &str) -> Result<Option<u64>, Invalid> {
        let count = |value: Value| {
            value.as_u64().ok_or_else(|| Invalid::new(name, "expected a whole number"))
        };
        self.take(name).map(count).transpose()
    }

    /// Takes a field that has to be a number.
    pub fn number(&mut self, name: &str) -> Result<Option<f64>, Invalid> {
        let number =
            |value: Value| value.as_f64().ok_or_else(|| Invalid::new(name, "expected a number"));
        self.take(name).map(number).transpose()
    }

    /// Takes a field that has to be a list.
    pub fn list(&mut self, name: &str) -> Result<Vec<Value>, Invalid> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(Invalid::new(name, "expected a list")),
        }
    }

    /// Refuses fields that would change the answer and cannot be translated. False, 0, 1 and empty
    /// values ask for nothing.
    pub fn refuse(&mut self, names: &[&str]) -> Result<(), Invalid> {
        for name in names {
            let asks = match self.take(name) {
                None | Some(Value::Bool(false)) => false,
                Some(Value::Number(number)) => number.as_u64().is_none_or(|number| number > 1),
                Some(Value::Array(items)) => !items.is_empty(),
                Some(Value::Object(items)) => !items.is_empty(),
                Some(_) => true,
            };
            if asks {
                return Err(Invalid::untranslatable(name));
            }
        }
        Ok(())
    }

    /// Names of the fields that nothing took.
    pub fn ignored(self) -> Vec<String> {
        self.map.into_iter().map(|(name, _)| name).collect()
    }
}

/// Fields inside of a body that nothing reads, by their paths without positions in lists. `known` lists the paths that
/// are read; `.*` at the end stands for everything inside.
pub fn unread(body: &Value, known: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let Value::Object(fields) = body else { return found };
    for (name, value) in fields {
        let inside = format!("{name}.");
        if known.iter().any(|path| path.starts_with(&inside)) {
            unread_in(value, name, known, &mut found);
        }
    }
    found
}

fn unread_in(value: &Value, path: &str, known: &[&str], found: &mut Vec<String>) {
    let fields = match value {
        Value::Object(fields) => fields,
        Value::Array(items) => {
            return items.iter().for_each(|item| unread_in(item, path, known, found));
        }
        _ => return,
    };
    for (name, value) in fields.iter().filter(|(name, value)| asks(name, value)) {
        let at = format!("{path}.{name}");
        let is = |own: &&&str| own.strip_suffix(".*").unwrap_or(own) == at;
        match known.iter().find(is) {
            Some(own) if own.ends_with(".*") => {}
            Some(_) => unread_in(value, &at, known, found),
            None if found.contains(&at) => {}
            None => found.push(at),
        }
    }
}

/// Whether a field asks for something: empty values and the usual detail of pictures do not.
fn asks(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !(text.is_empty() || (name == "detail" && text == "auto")),
        Value::Bool(_) | Value::Number(_) => true,
    }
}
