//! Which code a bad field answers with: one table.

use helmdeck_wire::ErrorCode;

/// The two ways a field can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codes {
    /// It is not there, or empty.
    pub missing: ErrorCode,
    /// It has a value that is not allowed.
    pub invalid: ErrorCode,
}

/// Whether what a field holds is never said again, however wrong it is.
pub fn is_secret(field: &str) -> bool {
    matches!(field, "state" | "password")
}

/// The codes of a field, by its name at the top of the body.
pub fn codes(field: &str) -> Codes {
    use ErrorCode as E;
    let (missing, invalid) = match field {
        "session_id" => (E::MissingSessionId, E::InvalidInput),
        "username" | "password" => (E::MissingCredentials, E::InvalidInput),
        "text" => (E::MissingText, E::InvalidText),
        "keys" => (E::MissingKeys, E::InvalidKeys),
        "url" => (E::MissingUrl, E::InvalidInput),
        "script" => (E::MissingScript, E::InvalidInput),
        "selector" => (E::MissingSelector, E::InvalidSelector),
        "command" => (E::MissingCommand, E::InvalidInput),
        "window_id" => (E::MissingWindowId, E::InvalidWindowId),
        "modifiers" => (E::MissingModifiers, E::InvalidModifier),
        "button" => (E::InvalidButton, E::InvalidButton),
        "direction" => (E::InvalidDirection, E::InvalidDirection),
        "x" | "y" | "start_x" | "start_y" | "end_x" | "end_y" | "path" => {
            (E::InvalidCoordinates, E::InvalidCoordinates)
        }
        "x1" | "y1" | "x2" | "y2" => (E::InvalidRegion, E::InvalidRegion),
        "seconds" => (E::InvalidSeconds, E::InvalidSeconds),
        "amount" => (E::InvalidAmount, E::InvalidAmount),
        "width" | "height" | "geometry" => (E::InvalidGeometry, E::InvalidGeometry),
        "format" => (E::InvalidFormat, E::InvalidFormat),
        _ => (E::InvalidInput, E::InvalidInput),
    };
    Codes { missing, invalid }
}
