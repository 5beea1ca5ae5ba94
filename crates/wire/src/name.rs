//! Names that callers give to stored resources. They are also used as file names.

use serde::{Deserialize, Deserializer, de::Error};

/// Declares a name type for a kind of resource.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $of:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(
            #[schemars(
                length(min = 1, max = 64),
                regex(pattern = "^[A-Za-z0-9_-]+$"),
                extend("x-expected" = "1 to 64 letters, digits, `-` or `_`")
            )]
            String,
        );

        impl $name {
            /// The name as text; also used as a file name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::name::read(deserializer, $of).map(Self)
            }
        }
    };
}
pub(crate) use name;

/// Deserializes and checks a name.
pub(crate) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    of: &str,
) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if (1..=64).contains(&name.len()) && name.chars().all(plain) {
        return Ok(name);
    }
    let expected = "expected 1 to 64 letters, digits, `-` or `_`";
    Err(D::Error::custom(format!("{name:?} is not the name of {of}: {expected}")))
}
