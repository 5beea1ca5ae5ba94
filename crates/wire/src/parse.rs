//! Parses JSON values, and names the field of an error.
//!
//! All types are parsed from one type of deserializer, so that each is compiled once.

#[cfg(test)]
mod tests;

use std::fmt;

use serde::{
    Deserialize,
    de::{
        self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess,
        SeqAccess, Unexpected, VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};
use serde_json::{Map, Number, Value, map};

/// The reason for a missing field.
pub const MISSING: &str = "missing";

/// Why a value was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The field, such as `path[1].y`; empty for the value itself.
    pub field: String,
    /// The reason.
    pub reason: String,
}

/// Parses a value.
pub fn parse<T: DeserializeOwned>(value: Value) -> Result<T, Invalid> {
    T::deserialize(Parser(value))
}

impl Invalid {
    fn inside(mut self, outer: String) -> Self {
        let dot = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("{outer}{dot}{}", self.field);
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.reason),
            field => write!(f, "{field}: {}", self.reason),
        }
    }
}

impl std::error::Error for Invalid {}

impl de::Error for Invalid {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self { field: String::new(), reason: reason.to_string() }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { field: field.to_owned(), reason: MISSING.to_owned() }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match unexpected {
            Unexpected::Unit => {
                Self::custom(format_args!("invalid type: null, expected {expected}"))
            }
            other => Self::custom(format_args!("invalid type: {other}, expected {expected}")),
        }
    }
}

/// The deserializer of all types.
struct Parser(Value);

impl Parser {
    fn refused(&self, expected: &dyn Expected) -> Invalid {
        de::Error::invalid_type(unexpected(&self.0), expected)
    }
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(it) => Unexpected::Bool(*it),
        Value::Number(it) => match (it.as_u64(), it.as_i64()) {
            (Some(it), _) => Unexpected::Unsigned(it),
            (None, Some(it)) => Unexpected::Signed(it),
            (None, None) => Unexpected::Float(it.as_f64().unwrap_or_default()),
        },
        Value::String(it) => Unexpected::Str(it),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, Invalid> {
    match (number.as_u64(), number.as_i64()) {
        (Some(it), _) => visitor.visit_u64(it),
        (None, Some(it)) => visitor.visit_i64(it),
        (None, None) => visitor.visit_f64(number.as_f64().unwrap_or_default()),
    }
}

fn visit_array<'de, V: Visitor<'de>>(items: Vec<Value>, visitor: V) -> Result<V::Value, Invalid> {
    let length = items.len();
    let mut items = Items { rest: items.into_iter(), index: 0 };
    let parsed = visitor.visit_seq(&mut items)?;
    match items.rest.len() {
        0 => Ok(parsed),
        _ => Err(de::Error::invalid_length(length, &"fewer elements in array")),
    }
}

fn visit_object<'de, V: Visitor<'de>>(
    fields: Map<String, Value>,
    visitor: V,
) -> Result<V::Value, Invalid> {
    let length = fields.len();
    let mut fields = Fields { rest: fields.into_iter(), current: None };
    let parsed = visitor.visit_map(&mut fields)?;
    match fields.rest.len() {
        0 => Ok(parsed),
        _ => Err(de::Error::invalid_length(length, &"fewer elements in map")),
    }
}

/// Methods for numbers, which visitors convert or refuse.
macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
            match &self.0 {
                Value::Number(number) => visit_number(number, visitor),
                _ => Err(self.refused(&visitor)),
            }
        })*
    };
}

/// Methods for texts.
macro_rules! texts {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
            match self.0 {
                Value::String(text) => visitor.visit_string(text),
                _ => Err(self.refused(&visitor)),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Parser {
    type Error = Invalid;

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f32 deserialize_f64
    }

    texts! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(it) => visitor.visit_bool(it),
            Value::Number(it) => visit_number(&it, visitor),
            Value::String(it) => visitor.visit_string(it),
            Value::Array(it) => visit_array(it, visitor),
            Value::Object(it) => visit_object(it, visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0 {
            Value::Bool(it) => visitor.visit_bool(it),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0 {
            Value::Array(items) => visit_array(items, visitor),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Invalid> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0 {
            Value::Object(fields) => visit_object(fields, visitor),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        let variant = match self.0 {
            Value::String(name) => Variant { name, content: None },
            Value::Object(fields) if fields.len() == 1 => match fields.into_iter().next() {
                Some((name, content)) => Variant { name, content: Some(content) },
                None => return Err(de::Error::custom("expected map with a single key")),
            },
            Value::Object(_) => {
                let expected = &"map with a single key";
                return Err(de::Error::invalid_value(Unexpected::Map, expected));
            }
            _ => return Err(self.refused(&"string or map")),
        };
        visitor.visit_enum(variant)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { i128 u128 bytes byte_buf unit_struct }
}

struct Items {
    rest: std::vec::IntoIter<Value>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Invalid;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Invalid> {
        let Some(item) = self.rest.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        let parsed = seed.deserialize(Parser(item));
        parsed.map(Some).map_err(|invalid| invalid.inside(format!("[{index}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Fields {
    rest: map::IntoIter,
    /// Name and value of the field whose name was read last.
    current: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Invalid;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Invalid> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        self.current = Some((name.clone(), value));
        let parsed = seed.deserialize(Parser(Value::String(name.clone())));
        parsed.map(Some).map_err(|invalid| invalid.inside(name))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Invalid> {
        let (name, value) = self.current.take().unwrap_or_default();
        seed.deserialize(Parser(value)).map_err(|invalid| invalid.inside(name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// A variant of an enum: its name alone, or an object with its content.
struct Variant {
    name: String,
    content: Option<Value>,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Invalid;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Invalid> {
        let parsed = seed.deserialize(Parser(Value::String(self.name.clone())))?;
        Ok((parsed, self))
    }
}

impl Variant {
    fn read<T>(
        self,
        kind: &'static str,
        read: impl FnOnce(Parser) -> Result<T, Invalid>,
    ) -> Result<T, Invalid> {
        let parsed = match self.content {
            Some(content) => read(Parser(content)),
            None => Err(de::Error::invalid_type(Unexpected::UnitVariant, &kind)),
        };
        parsed.map_err(|invalid| invalid.inside(self.name))
    }
}

impl<'de> VariantAccess<'de> for Variant {
    type Error = Invalid;

    fn unit_variant(self) -> Result<(), Invalid> {
        match self.content {
            Some(content) => <()>::deserialize(Parser(content)),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Invalid> {
        self.read("newtype variant", |content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Invalid> {
        self.read("tuple variant", |content| content.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        self.read("struct variant", |content| content.deserialize_map(visitor))
    }
}
