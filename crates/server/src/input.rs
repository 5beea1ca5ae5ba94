//! From a JSON object to a value we trust, or to a sentence that says what is wrong with it.

use helmdeck_wire::ErrorCode;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use crate::{
    error::{ApiError, ApiResult},
    field,
    limits::Limits,
};

/// Parses an object. `also_known` are fields that were taken out of it before.
pub fn parse<T: DeserializeOwned + 'static>(
    limits: &Limits,
    object: Map<String, Value>,
    also_known: &[&str],
) -> ApiResult<T> {
    limits.check::<T>(&object)?;
    serde_path_to_error::deserialize(Value::Object(object))
        .map_err(|error| refusal(&error, also_known))
}

fn refusal(error: &serde_path_to_error::Error<serde_json::Error>, also_known: &[&str]) -> ApiError {
    let reason = error.inner().to_string();
    let field = error.path().iter().find_map(|segment| match segment {
        Segment::Map { key } => Some(key.as_str()),
        _ => None,
    });
    if let Some(unknown) = quoted(&reason, "unknown field ") {
        // Its own name is the last of the path.
        let path = error.path().to_string();
        let within = path.strip_suffix(unknown).and_then(|path| path.strip_suffix('.'));
        let also_known = if within.is_some() { &[] } else { also_known };
        let known = also_known.iter().copied().chain(names(&reason).skip(1)).collect::<Vec<_>>();
        let within = within.map(|place| format!(" in {place}")).unwrap_or_default();
        let message =
            format!("unknown field {unknown:?}{within}: known fields are {}", known.join(", "));
        return ApiError::new(ErrorCode::InvalidInput, message);
    }
    match (field, quoted(&reason, "missing field ")) {
        (None, Some(missing)) => {
            ApiError::new(field::codes(missing).missing, format!("{missing} is missing"))
        }
        (None, None) => ApiError::new(ErrorCode::InvalidInput, plain(&reason)),
        (Some(field), missing) => {
            let reason = plain(&reason);
            let reason = match reason.rsplit_once("expected ") {
                Some((_, expected)) if field::is_secret(field) => format!("expected {expected}"),
                None if field::is_secret(field) && missing.is_none() => "not as expected".into(),
                _ => reason,
            };
            let message = format!("{}: {reason}", error.path());
            ApiError::new(field::codes(field).invalid, message)
        }
    }
}

/// The first name in backquotes, if the sentence begins as it must.
fn quoted<'a>(reason: &'a str, beginning: &str) -> Option<&'a str> {
    reason.starts_with(beginning).then(|| names(reason).next()).flatten()
}

/// All names in backquotes.
fn names(reason: &str) -> impl Iterator<Item = &str> {
    reason.split('`').skip(1).step_by(2)
}

/// Says "a number" where serde names a Rust type.
pub fn plain(reason: &str) -> String {
    let Some((got, expected)) = reason.rsplit_once("expected ") else { return reason.to_owned() };
    let expected = match expected {
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i32" | "i64" => "a whole number",
        "a sequence" => "an array",
        "a map" => "an object",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    format!("{got}expected {expected}")
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::{
        browser::ImportState,
        pointer::{Click, CursorPosition, Drag, ModifierClick, Scroll},
        process::Launch,
        screen::{Screenshot, Zoom},
        session::SessionSpec,
        status::Wait,
        window::Focus,
    };
    use serde_json::json;

    use super::*;

    fn refused<T: DeserializeOwned + 'static>(body: Value) -> (&'static str, String) {
        let Value::Object(object) = body else { panic!("not an object") };
        match parse::<T>(&Limits::default(), object, &["session_id"]) {
            Ok(_) => panic!("accepted"),
            Err(error) => (error.code.as_str(), error.message),
        }
    }

    #[test]
    fn an_unknown_field_is_named_with_the_known_ones() {
        let (code, message) = refused::<Click>(json!({"x": 1, "y": 1, "buton": "left"}));
        assert_eq!(code, "invalid_input");
        assert_eq!(message, "unknown field \"buton\": known fields are session_id, x, y, button");
        let (_, message) = refused::<SessionSpec>(json!({"cdp_stream": {"fps": 3}}));
        let known = "known fields are quality, max_width, max_height, max_fps";
        assert_eq!(message, format!("unknown field \"fps\" in cdp_stream: {known}"));
        let (_, message) = refused::<CursorPosition>(json!({"x": 1}));
        assert_eq!(message, "unknown field \"x\": known fields are session_id");
    }

    #[test]
    fn what_is_secret_is_not_said_again() {
        for (state, message) in [
            (json!("topsecret"), "state: expected an object"),
            (json!({"cookies": "topsecret"}), "state.cookies: expected an array"),
            (
                json!({"cookies": [{"name": "a", "value": 5, "domain": "a"}]}),
                "state.cookies[0].value: expected a string",
            ),
            (
                json!({"cookies": [{"name": "a", "value": "topsecret"}]}),
                "state.cookies[0]: missing field `domain`",
            ),
            (
                json!({"cookies": [{"name": "a", "value": "topsecret", "domain": "top secret"}]}),
                "state.cookies[0].domain: expected a host, such as example.com",
            ),
        ] {
            let refused = refused::<ImportState>(json!({ "state": state }));
            assert_eq!(refused, ("invalid_input", message.to_owned()));
        }
    }

    #[test]
    fn a_missing_field_answers_with_its_own_code() {
        let code = |refused: (&'static str, String)| refused.0;
        assert_eq!(code(refused::<Launch>(json!({}))), "missing_command");
        assert_eq!(code(refused::<Focus>(json!({}))), "missing_window_id");
        assert_eq!(code(refused::<ModifierClick>(json!({"x": 1, "y": 1}))), "missing_modifiers");
        assert_eq!(code(refused::<Click>(json!({"x": 1}))), "invalid_coordinates");
        assert_eq!(code(refused::<Zoom>(json!({"x1": 1}))), "invalid_region");
        assert_eq!(code(refused::<Scroll>(json!({}))), "invalid_direction");
        assert_eq!(code(refused::<Wait>(json!({}))), "invalid_seconds");
    }

    #[test]
    fn a_bad_value_is_named_with_what_is_allowed() {
        let (code, message) = refused::<Click>(json!({"x": 1, "y": 1, "button": "upper"}));
        assert_eq!(code, "invalid_button");
        assert!(
            message.starts_with("button: unknown variant `upper`, expected one of"),
            "{message}"
        );
        assert!(message.contains("`left`"), "{message}");

        let (code, message) = refused::<Click>(json!({"x": "left edge", "y": 1}));
        assert_eq!(code, "invalid_coordinates");
        assert_eq!(message, "x: invalid type: string \"left edge\", expected a number");

        let (code, message) = refused::<Scroll>(json!({"direction": "up", "amount": -1}));
        assert_eq!(code, "invalid_amount");
        assert!(message.ends_with("expected a whole number, 0 or more"), "{message}");

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
        assert!(message.starts_with("modifiers[0]: unknown variant `hyper`"), "{message}");

        let (code, message) = refused::<Drag>(json!({"path": [{"x": 1, "y": 1}, {"x": 2}]}));
        assert_eq!((code, message.as_str()), ("invalid_coordinates", "path[1]: missing field `y`"));
    }
}
