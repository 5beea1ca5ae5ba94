//! Schemas of actions with the options that describe their effect.

use std::{borrow::Cow, marker::PhantomData};

use helmdeck_wire::{
    Action,
    aim::Aim,
    observe::{ActionOptions, Observation},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

/// The keyword for fields that are required without a target.
const UNLESS_TARGET: &str = "x-required-unless-target";

/// An action with its options, as a caller writes them.
pub struct WithOptions<A>(PhantomData<A>);

/// A picture that can wait for a quiet screen, and whose positions can be those of an earlier picture.
pub struct WithSettle<A>(PhantomData<A>);

/// An action that reads an element, which can be named by a target.
pub struct WithTarget<A>(PhantomData<A>);

/// The reply of an action with options.
pub struct Observed<R>(PhantomData<R>);

impl<A: Action> JsonSchema for WithOptions<A> {
    fn schema_name() -> Cow<'static, str> {
        A::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = A::json_schema(generator);
        let options = ActionOptions::json_schema(generator);
        with_options(schema, &options, A::AIM)
    }
}

impl<A: Action> JsonSchema for WithSettle<A> {
    fn schema_name() -> Cow<'static, str> {
        A::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = A::json_schema(generator);
        let has_positions = schema.pointer("/properties/x1").is_some();
        let usable = |name: &str| name == "settle" || (name == "shot" && has_positions);
        merged(schema, &ActionOptions::json_schema(generator), usable)
    }
}

impl<A: Action> JsonSchema for WithTarget<A> {
    fn schema_name() -> Cow<'static, str> {
        A::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = A::json_schema(generator);
        merged(schema, &ActionOptions::json_schema(generator), |name| name == "target")
    }
}

impl<R: JsonSchema> JsonSchema for Observed<R> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Observed", R::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = R::json_schema(generator);
        merged(schema, &Observation::json_schema(generator), |_| true)
    }
}

/// Adds the options that the action can use. A target makes the position optional.
fn with_options(schema: Schema, options: &Schema, aim: Aim) -> Schema {
    let usable = |name: &str| match aim {
        Aim::Nowhere => matches!(name, "settle" | "observe" | "observe_for"),
        Aim::Focus => !matches!(name, "target" | "end_target" | "shot"),
        Aim::Element => !matches!(name, "end_target" | "shot"),
        Aim::Point => name != "end_target",
        Aim::Start => true,
    };
    let mut schema = merged(schema, options, usable);
    let object = schema.ensure_object();
    if let Some(Value::Array(required)) = object.get_mut("required") {
        let replaced =
            |name: &mut Value| name.as_str().is_some_and(|it| aim.fields().contains(&it));
        let replaced: Vec<Value> = required.extract_if(.., replaced).collect();
        if !replaced.is_empty() {
            object.insert(UNLESS_TARGET.to_owned(), replaced.into());
        }
    }
    schema
}

/// Adds properties of another object, but replaces none.
fn merged(mut schema: Schema, other: &Schema, wanted: impl Fn(&str) -> bool) -> Schema {
    let Some(Value::Object(more)) = other.get("properties") else { return schema };
    let properties =
        schema.ensure_object().entry("properties").or_insert(Value::Object(Default::default()));
    if let Value::Object(properties) = properties {
        for (name, property) in more.iter().filter(|(name, _)| wanted(name)) {
            properties.entry(name).or_insert_with(|| property.clone());
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::{
        browser::{ClickElement, Extract, Interact, PressKeys},
        keyboard::Key,
        pointer::{Click, Drag},
        screen::{Screenshot, Zoom},
    };

    use super::*;

    fn properties<T: JsonSchema>() -> (Vec<String>, Vec<String>) {
        let schema = schemars::schema_for!(T);
        let names = |name: &str| match schema.get(name) {
            Some(Value::Object(object)) => object.keys().cloned().collect(),
            Some(Value::Array(names)) => {
                names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        };
        (names("properties"), names("required"))
    }

    #[test]
    fn a_pointer_action_has_all_options_and_needs_no_position() {
        let (fields, required) = properties::<WithOptions<Click>>();
        let has = |name: &str| fields.iter().any(|field| field == name);
        assert!(ActionOptions::NAMES.iter().all(|name| has(name) == (*name != "end_target")));
        assert!(required.is_empty(), "{required:?}");
        let (fields, _) = properties::<WithOptions<Drag>>();
        assert!(fields.contains(&"end_target".to_owned()), "{fields:?}");
    }

    #[test]
    fn a_key_has_no_target_and_a_picture_only_settles() {
        let (fields, required) = properties::<WithOptions<Key>>();
        assert!(fields.contains(&"settle".to_owned()) && !fields.contains(&"target".to_owned()));
        assert_eq!(required, ["keys"]);
        let (fields, _) = properties::<WithSettle<Screenshot>>();
        assert!(fields.contains(&"settle".to_owned()) && !fields.contains(&"observe".to_owned()));
        assert!(!fields.contains(&"shot".to_owned()));
    }

    #[test]
    fn actions_on_elements_take_a_target_and_tell_their_hit() {
        for fields in [
            properties::<WithOptions<ClickElement>>(),
            properties::<WithOptions<PressKeys>>(),
            properties::<WithOptions<Interact>>(),
        ] {
            let has = |name: &str| fields.0.iter().any(|field| field == name);
            assert!(has("target") && has("hit") && !has("shot"), "{fields:?}");
            assert!(!fields.1.contains(&"selector".to_owned()), "{fields:?}");
        }
        let (fields, _) = properties::<WithTarget<Extract>>();
        assert!(fields.contains(&"target".to_owned()) && !fields.contains(&"settle".to_owned()));
    }

    #[test]
    fn a_zoom_takes_positions_of_an_earlier_picture() {
        let (fields, _) = properties::<WithSettle<Zoom>>();
        assert!(fields.contains(&"shot".to_owned()) && !fields.contains(&"target".to_owned()));
    }
}
