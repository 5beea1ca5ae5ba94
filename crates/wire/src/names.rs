//! Names of an enum's values, as they are written in JSON.

/// Gives an enum `ALL`, `as_str` and `named`.
macro_rules! names {
    ($type:ident: $($variant:ident $name:literal),+ $(,)?) => {
        impl $type {
            /// Every value.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The value as it is written in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The value with this name.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

pub(crate) use names;
