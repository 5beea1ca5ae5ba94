//! Validates and parses input from JSON or text.
//!
//! The schema of a type decides what is allowed (`helmdeck-schema`). Parsing checks what a schema
//! cannot express. Both name the field; the schema gives each field its error code.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use helmdeck_schema::{Problem, Schema, Violation};
use helmdeck_wire::{
    ErrorCode,
    parse::{Invalid, MISSING},
};
use parking_lot::Mutex;
use schemars::{JsonSchema, generate::SchemaSettings, transform::Transform as _};
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::{
    error::{ApiError, ApiResult},
    openapi::ForClients,
    operation::SchemaOf,
};

/// Advice in errors about a missing session.
const WHICH_SESSION: &str = "pass the id that was returned when the session was created";

/// The schema of a type with this function and name, as it is documented and enforced. Takes
/// functions and not the type, so that it is compiled once.
pub fn root_schema(schema: SchemaOf, name: fn() -> String) -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut root = schema(&mut generator);
    let object = root.ensure_object();
    object.entry("title").or_insert_with(|| name().into());
    if let Some(meta) = &generator.settings().meta_schema {
        object.insert("$schema".to_owned(), meta.as_ref().into());
    }
    let definitions = generator.take_definitions(false);
    if !definitions.is_empty() {
        object.insert("$defs".to_owned(), definitions.into());
    }
    for transform in generator.transforms_mut() {
        transform.transform(&mut root);
    }
    ForClients.transform(&mut root);
    root.to_value()
}

/// The schema of a type, prepared once.
pub fn schema_of<T: JsonSchema + 'static>() -> ApiResult<Arc<Schema>> {
    prepared(TypeId::of::<T>(), T::json_schema, || T::schema_name().into_owned())
}

fn prepared(id: TypeId, schema: SchemaOf, name: fn() -> String) -> ApiResult<Arc<Schema>> {
    static PREPARED: LazyLock<Mutex<HashMap<TypeId, Arc<Schema>>>> = LazyLock::new(Mutex::default);
    let mut prepared = PREPARED.lock();
    if let Some(schema) = prepared.get(&id) {
        return Ok(schema.clone());
    }
    let schema = Arc::new(Schema::new(root_schema(schema, name)).map_err(ApiError::internal)?);
    prepared.insert(id, schema.clone());
    Ok(schema)
}

/// Checks and parses an object.
pub fn read<T: DeserializeOwned + JsonSchema + 'static>(
    object: Map<String, Value>,
) -> ApiResult<T> {
    let schema = schema_of::<T>()?;
    let value = check(&schema, object)?;
    parse(&schema, value)
}

/// Checks and parses the text of a message, a JSON object.
pub fn read_text<T: DeserializeOwned + JsonSchema + 'static>(text: &str) -> ApiResult<T> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => read(object),
        Ok(_) | Err(_) => {
            Err(ApiError::new(ErrorCode::InvalidInput, "the message is not a JSON object"))
        }
    }
}

/// Checks an object against a schema.
pub fn check(schema: &Schema, object: Map<String, Value>) -> ApiResult<Value> {
    let mut value = Value::Object(object);
    schema.check(&value).map_err(|violation| refusal(&violation))?;
    whole_numbers(&mut value);
    Ok(value)
}

/// Parses a checked value.
pub fn parse<T: DeserializeOwned>(schema: &Schema, value: Value) -> ApiResult<T> {
    helmdeck_wire::parse::parse(value).map_err(|invalid| not_parsed(schema, invalid))
}

/// The error for a checked value that was not parsed. It breaks a rule that a schema cannot
/// express, and the reason is our own message.
pub fn not_parsed(schema: &Schema, invalid: Invalid) -> ApiError {
    let Invalid { field, reason } = invalid;
    let (code, secret) = schema.notes_at(&field);
    let missing = schema.code_if_missing(&field).filter(|_| reason.starts_with(MISSING));
    let code = missing.or(code);
    let code = code.and_then(ErrorCode::named).unwrap_or(ErrorCode::InvalidInput);
    let reason = if secret { "the value is not allowed".to_owned() } else { reason };
    match field.as_str() {
        "" => ApiError::new(code, reason),
        field => ApiError::new(code, format!("{field}: {reason}")).of_field(field, Vec::new()),
    }
}

/// The error code for an invalid value of a field.
pub fn code_of<T: JsonSchema + 'static>(field: &str) -> ErrorCode {
    let schema = schema_of::<T>();
    let code = schema.as_ref().ok().and_then(|schema| schema.notes_at(field).0);
    code.and_then(ErrorCode::named).unwrap_or(ErrorCode::InvalidInput)
}

/// The error for a field that a place of a request, such as its query, does not take.
pub fn unknown(field: &str, known: Vec<String>) -> ApiError {
    let problem = Problem::Unknown { known };
    refusal(&Violation { field: field.to_owned(), problem, code: None })
}

/// The error for a field with several values.
pub fn given_twice(field: &str) -> ApiError {
    let message = format!("{field} is given twice: choose one");
    ApiError::new(ErrorCode::InvalidInput, message).of_field(field, Vec::new())
}

/// An error from a violation of a schema.
fn refusal(violation: &Violation) -> ApiError {
    let code = violation.code.as_deref().and_then(ErrorCode::named);
    let mut message = violation.to_string();
    if violation.field == "session_id" && violation.problem == Problem::Missing {
        message = format!("{message}: {WHICH_SESSION}");
    }
    ApiError::new(code.unwrap_or(ErrorCode::InvalidInput), message)
        .of_field(&violation.field, violation.allowed())
}

/// Writes `5.0` as `5`: JSON does not distinguish them, but integer parsers do.
fn whole_numbers(value: &mut Value) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() <= EXACT);
            if let Some(whole) = whole {
                *number = Number::from(whole as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::{
        browser::{ImportState, WaitFor},
        keyboard::Type,
        pointer::{Click, Drag, ModifierClick, Scroll},
        process::Launch,
        screen::{Screenshot, Zoom},
        session::SessionSpec,
        status::Wait,
        window::Focus,
    };
    use serde_json::json;

    use super::*;

    fn refused<T: DeserializeOwned + JsonSchema + 'static>(body: Value) -> (&'static str, String) {
        let Value::Object(object) = body else { panic!("not an object") };
        match read::<T>(object) {
            Ok(_) => panic!("accepted"),
            Err(error) => (error.code.as_str(), error.message),
        }
    }

    #[test]
    fn an_unknown_field_is_named_with_the_known_ones() {
        let (code, message) = refused::<Click>(json!({"x": 1, "y": 1, "buton": "left"}));
        assert_eq!(code, "invalid_input");
        assert_eq!(message, "unknown field \"buton\": known fields are button, x, y");
        let (_, message) = refused::<SessionSpec>(json!({"cdp_stream": {"fps": 3}}));
        assert!(message.starts_with("unknown field \"fps\" in cdp_stream: known"), "{message}");
    }

    #[test]
    fn a_secret_is_never_repeated() {
        for (state, field) in [
            (json!("topsecret"), "state"),
            (json!({"cookies": "topsecret"}), "state.cookies"),
            (
                json!({"cookies": [{"name": "a", "value": "topsecret", "domain": 5}]}),
                "state.cookies[0].domain",
            ),
            (json!({"cookies": [{"name": "a", "value": "topsecret"}]}), "state.cookies[0].domain"),
            (
                json!({"cookies": [{"name": "a", "value": "topsecret", "domain": "top secret"}]}),
                "state.cookies[0].domain",
            ),
        ] {
            let (code, message) = refused::<ImportState>(json!({ "state": state }));
            assert_eq!(code, "invalid_input");
            assert!(message.starts_with(field), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn a_missing_or_empty_field_answers_with_its_own_code() {
        let code = |refused: (&'static str, String)| refused.0;
        assert_eq!(code(refused::<Launch>(json!({}))), "missing_command");
        assert_eq!(code(refused::<Type>(json!({"text": ""}))), "missing_text");
        assert_eq!(code(refused::<Focus>(json!({}))), "missing_window_id");
        assert_eq!(code(refused::<ModifierClick>(json!({"x": 1, "y": 1}))), "missing_modifiers");
        assert_eq!(
            code(refused::<ModifierClick>(json!({"x": 1, "y": 1, "modifiers": []}))),
            "missing_modifiers"
        );
        assert_eq!(code(refused::<Click>(json!({"x": 1}))), "invalid_coordinates");
        assert_eq!(code(refused::<Zoom>(json!({"x1": 1}))), "invalid_region");
        assert_eq!(code(refused::<Scroll>(json!({}))), "invalid_direction");
        assert_eq!(code(refused::<Wait>(json!({}))), "invalid_seconds");
    }

    #[test]
    fn a_bad_value_is_named_with_what_is_allowed() {
        let click = |button| json!({"x": 1, "y": 1, "button": button});
        let error = read::<Click>(click("upper").as_object().unwrap().clone()).unwrap_err();
        assert_eq!(error.code.as_str(), "invalid_button");
        assert_eq!(
            error.message,
            "button is \"upper\": expected left, middle, right, back or forward"
        );
        let body = error.body();
        assert_eq!(body.field.as_deref(), Some("button"));
        assert_eq!(body.allowed, ["left", "middle", "right", "back", "forward"]);
        assert!(read::<Click>(click("wheel").as_object().unwrap().clone()).is_ok(), "an alias");

        for (refused, code, message) in [
            (
                refused::<Click>(json!({"x": "left edge", "y": 1})),
                "invalid_coordinates",
                "x is \"left edge\": expected a number",
            ),
            (
                refused::<Scroll>(json!({"direction": "up", "amount": -1})),
                "invalid_amount",
                "amount is -1: expected a whole number, 0 or more",
            ),
            (
                refused::<Screenshot>(json!({"max_width": 5})),
                "invalid_input",
                "max_width is 5: expected 16 to 7680",
            ),
            (
                refused::<SessionSpec>(json!({"locale": "x"})),
                "invalid_input",
                "locale is \"x\": expected a language such as de-DE",
            ),
            (
                refused::<WaitFor>(json!({"selector": "role="})),
                "invalid_selector",
                "selector: expected role=button",
            ),
        ] {
            assert_eq!((refused.0, refused.1.as_str()), (code, message));
        }
        assert_eq!(refused::<Wait>(json!({"seconds": 0})).0, "invalid_seconds");
        assert_eq!(refused::<Screenshot>(json!({"format": "gif"})).0, "invalid_format");
        assert_eq!(refused::<Focus>(json!({"window_id": "0x1f"})).0, "invalid_window_id");
        assert_eq!(refused::<SessionSpec>(json!({"geometry": "1x1"})).0, "invalid_geometry");
    }

    #[test]
    fn a_value_deep_inside_answers_for_its_field() {
        let (code, message) =
            refused::<ModifierClick>(json!({"x": 1, "y": 1, "modifiers": ["hyper"]}));
        assert_eq!(code, "invalid_modifier");
        assert!(message.starts_with("modifiers[0] is \"hyper\": expected shift"), "{message}");

        let (code, message) = refused::<Drag>(json!({"path": [{"x": 1, "y": 1}, {"x": 2}]}));
        assert_eq!((code, message.as_str()), ("invalid_coordinates", "path[1].y is missing"));
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
        let body = json!({"text": "a", "delay_ms": 5.0});
        assert_eq!(read::<Type>(body.as_object().unwrap().clone()).unwrap().delay_ms, 5);
    }
}
