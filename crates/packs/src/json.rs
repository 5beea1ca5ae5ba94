//! Values of JSON whose form is not ours.

use serde_json::Value;

static NULL: Value = Value::Null;

/// The value at a path of keys, such as `user/login`; null if there is none.
pub fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('/').try_fold(value, |value, key| value.get(key)).unwrap_or(&NULL)
}

/// An object without fields that are null.
pub fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, value| !value.is_null());
    }
    value
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_is_null() {
        let value = json!({ "user": { "login": "ann" }, "body": null });
        assert_eq!(at(&value, "user/login"), "ann");
        assert!(at(&value, "user/name/first").is_null() && at(&value, "none").is_null());
        assert_eq!(without_nulls(value), json!({ "user": { "login": "ann" } }));
    }
}
