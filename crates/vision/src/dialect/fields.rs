//! Reads fields of a model's call, which may be written in several ways.

use helmdeck_gateway::json::{field, text};
use helmdeck_wire::point::Pixel;
use serde_json::Value;

use crate::{
    Malformed,
    view::{Grid, View},
};

/// A number, also one that is written as text.
pub fn number(value: &Value) -> Option<f64> {
    let read = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    read.filter(|number: &f64| number.is_finite())
}

/// A field that is a number.
pub fn number_in(input: &Value, name: &str) -> Option<f64> {
    field(input, name).and_then(number)
}

/// A position: a list, an object with `x` and `y`, or text such as `(3, 4)`.
pub fn pair(value: &Value) -> Option<(f64, f64)> {
    match value {
        Value::Array(list) => match list.as_slice() {
            [x, y] => Some((number(x)?, number(y)?)),
            // A box: its middle.
            [x1, y1, x2, y2] => Some((
                f64::midpoint(number(x1)?, number(x2)?),
                f64::midpoint(number(y1)?, number(y2)?),
            )),
            [one] => pair(one),
            _ => None,
        },
        Value::Object(_) => Some((number_in(value, "x")?, number_in(value, "y")?)),
        Value::String(text) => pair(&Value::from(numbers(text))),
        _ => None,
    }
}

/// All numbers in a text.
pub fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    parts.filter_map(|part| part.parse().ok()).filter(|number: &f64| number.is_finite()).collect()
}

/// A pixel of the screen, from the field of this name.
pub fn pixel(
    input: &Value,
    name: &str,
    view: &View,
    grid: Grid,
) -> Result<Option<Pixel>, Malformed> {
    let Some(value) = field(input, name) else { return Ok(None) };
    let (x, y) = pair(value).ok_or_else(|| {
        Malformed::new(format!("{name} is {value}: expected [x, y] with two numbers"))
    })?;
    Ok(Some(view.to_screen(grid, x, y)))
}

/// A text that has to be there.
pub fn needed<'a>(input: &'a Value, name: &str, action: &str) -> Result<&'a str, Malformed> {
    text(input, name)
        .filter(|text| !text.is_empty())
        .ok_or_else(|| Malformed::new(format!("{action} needs {name}, a text that is not empty")))
}

/// A list of texts, or one text.
pub fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(list)) => {
            list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        Some(Value::String(one)) => vec![one.clone()],
        _ => Vec::new(),
    }
}

/// Arguments of a function, which some vendors write as text.
pub fn arguments(value: Option<&Value>) -> Option<Value> {
    match value {
        Some(Value::String(text)) if text.trim().is_empty() => Some(serde_json::json!({})),
        Some(Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_object),
        Some(Value::Object(_)) => value.cloned(),
        None | Some(Value::Null) => Some(serde_json::json!({})),
        Some(_) => None,
    }
}
